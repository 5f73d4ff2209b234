-- How many tasks stand in each open or odd state, and how many there are in all.
SELECT (SELECT count(*) FROM tasks WHERE state = 'queued') AS queued,
       (SELECT count(*) FROM tasks WHERE state = 'blocked') AS blocked,
       (SELECT count(*) FROM tasks WHERE state = 'running') AS running,
       (SELECT count(*) FROM tasks WHERE state IN ('failed', 'cancelled') AND state = 'failed') AS failed,
       (SELECT count(*) FROM tasks WHERE state IN ('failed', 'cancelled') AND state = 'cancelled') AS cancelled,
       (SELECT count(*) FROM tasks) AS total
