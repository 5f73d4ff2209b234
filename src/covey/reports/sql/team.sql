-- A team run as it stands.
SELECT id, state, why, note, quality, plan_task, created_by, created_at, ended_at FROM team_runs WHERE id = :id
