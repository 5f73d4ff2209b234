-- What agents know of each other.
SELECT id, role, capabilities FROM agents WHERE removed_at IS NULL ORDER BY place
