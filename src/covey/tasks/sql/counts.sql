-- How many tasks are in each state, in one pass over an index.
SELECT count(*) FILTER (WHERE state = 'queued') AS queued, count(*) FILTER (WHERE state = 'blocked') AS blocked,
       count(*) FILTER (WHERE state = 'running') AS running, count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed, count(*) FILTER (WHERE state = 'cancelled') AS cancelled
  FROM tasks
