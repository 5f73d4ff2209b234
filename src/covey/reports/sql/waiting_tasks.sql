-- How many tasks are queued in each queue, and since when the oldest of them.
SELECT w.queue, w.tasks, t.created_at AS since
  FROM (SELECT queue, count(*) AS tasks, min(seq) AS oldest FROM tasks
         WHERE state = 'queued' AND queue >= :low AND queue <= :high GROUP BY queue) w
  JOIN tasks t ON t.seq = w.oldest
