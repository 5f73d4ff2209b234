-- The tasks that failed since a time, the latest first.
SELECT id, substr(description, 1, 300) AS description, coalesce(holder, agent, '') AS agent, attempts, substr(error, 1, 300) AS error, finished_at
  FROM tasks WHERE finished_at IS NOT NULL AND finished_at >= :since AND state = 'failed' ORDER BY finished_at DESC LIMIT :limit
