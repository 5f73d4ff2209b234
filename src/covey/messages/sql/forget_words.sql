-- A message is found no more.
DELETE FROM message_words WHERE rowid = :seq
