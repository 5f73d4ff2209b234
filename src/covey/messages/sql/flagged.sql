-- Agents that are paused or stopped, and since when.
SELECT id, coalesce(stopped_at, paused_at) AS at FROM agents WHERE (paused_at IS NOT NULL OR stopped_at IS NOT NULL) AND removed_at IS NULL
