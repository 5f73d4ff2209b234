-- One run.
SELECT seq, id, draft, workers, plan_task, planned_by, state, why, note, quality, summary, created_by, created_at, look_at, told_at, ended_at
  FROM team_runs WHERE id = :id
