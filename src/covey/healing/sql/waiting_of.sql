-- The tasks of an agent that wait and that another one could do, in the order they were made.
SELECT id FROM tasks
 WHERE agent = :agent AND state IN ('queued', 'blocked', 'running') AND state <> 'running' AND split_at IS NULL AND waiting_for IS NULL
 ORDER BY seq LIMIT :limit
