-- Claims whose brain did not start.
SELECT id, token FROM tasks WHERE state = 'running' AND started_at IS NULL AND claimed_at <= :before ORDER BY claimed_at LIMIT :limit
