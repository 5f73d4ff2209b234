-- Add a run.
INSERT INTO team_runs (id, draft, workers, planned_by, state, created_by, created_at, look_at)
VALUES (:id, :draft, :workers, :planned_by, 'working', :created_by, :now, :now)
RETURNING seq, id, draft, workers, plan_task, planned_by, state, why, note, quality, summary, created_by, created_at, look_at, told_at, ended_at
