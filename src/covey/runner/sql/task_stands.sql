-- Whether a token still leases a task.
SELECT 1 AS found FROM tasks WHERE token = :token AND state = 'running'
