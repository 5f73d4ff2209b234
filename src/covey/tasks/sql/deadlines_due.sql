-- What still waits at its deadline.
SELECT id FROM tasks WHERE state IN ('queued', 'blocked') AND deadline IS NOT NULL AND deadline <= :now ORDER BY deadline LIMIT :limit
