-- When a task last changed.
SELECT at FROM events WHERE subject = :task_id ORDER BY seq DESC LIMIT 1
