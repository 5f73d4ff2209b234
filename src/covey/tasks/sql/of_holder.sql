-- What an agent holds.
SELECT id, token, run_id, claimed_at, started_at, estimated_s FROM tasks WHERE holder = :holder AND state = 'running' ORDER BY seq
