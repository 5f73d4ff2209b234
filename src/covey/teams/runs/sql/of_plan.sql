-- The run that waits for the plan that a task makes.
SELECT id FROM team_runs WHERE plan_task = :task_id AND state = 'planning'
