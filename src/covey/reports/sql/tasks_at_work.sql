-- The tasks that brains are at, in the order they were made.
SELECT id, substr(description, 1, 2000) AS description, priority, created_by, agent, holder, project_id, claimed_at, started_at, estimated_s, attempts,
       max_attempts, lease_ends, progress, progress_at, deadline
  FROM tasks WHERE state = 'running' AND holder >= :low AND holder <= :high ORDER BY seq
