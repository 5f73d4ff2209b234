-- Whether an entry of this id is there.
SELECT 1 AS found FROM entries WHERE id = :id
