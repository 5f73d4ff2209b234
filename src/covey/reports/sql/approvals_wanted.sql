-- Tasks that wait for an approval, the oldest first.
SELECT id, description, created_by, created_at FROM tasks WHERE state = 'blocked' AND approval = 'wanted' ORDER BY seq LIMIT :limit
