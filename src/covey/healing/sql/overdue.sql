-- The tasks that have been at work for longer than so many of their estimates.
SELECT holder, id, coalesce(started_at, claimed_at) AS since, estimated_s FROM tasks
 WHERE state = 'running' AND :now - coalesce(started_at, claimed_at) > :overrun * estimated_s
 ORDER BY lease_ends LIMIT :limit
