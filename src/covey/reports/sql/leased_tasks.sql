-- The tasks that somebody holds, what ends first before the rest.
SELECT id, holder, run_id, attempts, claimed_at, lease_ends FROM tasks WHERE state = 'running' ORDER BY lease_ends LIMIT :limit
