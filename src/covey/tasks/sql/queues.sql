-- How many tasks are ready in each queue.
SELECT queue, count(*) AS n FROM tasks WHERE state = 'queued' GROUP BY queue
