-- The open run whose step a task does.
SELECT run_id FROM team_steps WHERE task_id = :task_id AND state = 'out'
