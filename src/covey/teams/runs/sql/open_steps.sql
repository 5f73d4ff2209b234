-- The steps of a run that have not ended.
SELECT place, task_id FROM team_steps WHERE run_id = :run_id AND state IN ('waiting', 'out') ORDER BY place
