-- The run that a current token belongs to.
SELECT run_id FROM tasks WHERE token = :token AND state = 'running'
UNION ALL
SELECT run_id FROM copies WHERE token = :token AND state = 'seen'
LIMIT 1
