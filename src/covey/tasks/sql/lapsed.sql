-- Running tasks whose lease has ended.
SELECT id, token, run_id, holder FROM tasks WHERE state = 'running' AND lease_ends <= :now ORDER BY lease_ends LIMIT :limit
