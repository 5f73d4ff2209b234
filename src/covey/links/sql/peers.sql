-- The agents after a name, in its order, with the owner and organisation of each.
SELECT id, owner, organisation, removed_at FROM agents WHERE id > :after AND removed_at IS NULL ORDER BY id LIMIT :limit
