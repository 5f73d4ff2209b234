-- How many tasks have not ended, counted no further than this.
SELECT count(*) AS n FROM (SELECT 1 AS one FROM tasks WHERE state IN ('queued', 'blocked', 'running') LIMIT :most) AS found
