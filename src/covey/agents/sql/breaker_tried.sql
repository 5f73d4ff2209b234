-- Whether a run of an agent holds something under a lease.
SELECT 1 AS found FROM tasks WHERE holder = :agent AND state = 'running' AND run_id = :run_id
UNION ALL
SELECT 1 FROM copies WHERE receiver = :agent AND state = 'seen' AND run_id = :run_id
LIMIT 1
