-- How many tasks ended in a stretch of time, by agent and state, and how long they took.
SELECT coalesce(holder, agent, '') AS agent, state, count(*) AS tasks, count(claimed_at) AS timed, coalesce(sum(finished_at - claimed_at), 0) AS seconds
  FROM tasks WHERE finished_at IS NOT NULL AND finished_at >= :start AND finished_at < :end GROUP BY coalesce(holder, agent, ''), state
