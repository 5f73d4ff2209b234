-- The hash of somebody's bearer token; only a new one changes anything.
INSERT INTO tokens (name, hash, at) VALUES (:name, :hash, :now)
ON CONFLICT (name) DO UPDATE SET hash = :hash, at = :now WHERE tokens.hash <> :hash
