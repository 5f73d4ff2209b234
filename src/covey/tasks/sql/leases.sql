-- Every lease on a task.
SELECT token FROM tasks WHERE state = 'running' AND token IS NOT NULL ORDER BY seq
