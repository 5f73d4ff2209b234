-- An archived entry was put into the index, or has no place there.
UPDATE entries SET indexed = 1 WHERE seq = :seq
