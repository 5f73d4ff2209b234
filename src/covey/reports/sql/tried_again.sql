-- The tasks that ended since a time and took more than one attempt, the latest first.
SELECT id, description, coalesce(holder, agent) AS agent, state, attempts, error, finished_at
  FROM tasks WHERE finished_at IS NOT NULL AND finished_at >= :since AND attempts > 1 ORDER BY finished_at DESC LIMIT :limit
