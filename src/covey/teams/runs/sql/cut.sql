-- A run has its steps and its workers.
UPDATE team_runs SET state = 'working', workers = :workers, planned_by = :planned_by, note = :note WHERE id = :id
RETURNING seq, id, draft, workers, plan_task, planned_by, state, why, note, quality, summary, created_by, created_at, look_at, told_at, ended_at
