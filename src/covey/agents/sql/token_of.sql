-- Whose bearer token has this hash, and what its holder is.
SELECT t.name, t.hash, a.id AS agent, a.brain, a.removed_at FROM tokens t LEFT JOIN agents a ON a.id = t.name WHERE t.hash = :hash
