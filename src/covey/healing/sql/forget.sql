-- An incident goes.
DELETE FROM incidents WHERE id = :id
