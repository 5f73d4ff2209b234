-- A run waits for the plan of a brain.
UPDATE team_runs SET state = 'planning', plan_task = :task_id WHERE id = :id
