-- A message goes.
DELETE FROM messages WHERE seq = :seq
