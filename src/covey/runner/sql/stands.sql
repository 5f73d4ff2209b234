-- Whether a token still leases a task or mail.
SELECT 1 AS found FROM tasks WHERE token = :token AND state = 'running'
UNION ALL
SELECT 1 AS found FROM copies WHERE token = :token AND state = 'seen'
LIMIT 1
