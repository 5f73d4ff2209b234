-- Open incidents that a person was called to, the oldest first.
SELECT id, agent, kind, cause, called_at FROM incidents WHERE ended_at IS NULL AND called_at IS NOT NULL ORDER BY seq LIMIT :limit
