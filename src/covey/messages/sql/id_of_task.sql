-- Whether a task bears this id.
SELECT 1 AS found FROM tasks WHERE id = :id
