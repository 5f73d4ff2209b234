-- Runs, newest first.
SELECT seq, id, draft, workers, plan_task, planned_by, state, why, note, quality, summary, created_by, created_at, look_at, told_at, ended_at
  FROM team_runs
 WHERE seq < :before AND (:state = '' OR state = :state OR (:state = 'open' AND ended_at IS NULL)) AND (:by = '' OR created_by = :by)
 ORDER BY seq DESC LIMIT :limit
