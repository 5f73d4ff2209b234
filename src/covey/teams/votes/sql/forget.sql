-- A vote that was closed long ago.
DELETE FROM votes WHERE seq = :seq
