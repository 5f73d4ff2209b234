-- How many open tasks an agent has made, counted up to a bound.
SELECT count(*) AS n
  FROM (SELECT 1 AS one FROM tasks
         WHERE created_by = :created_by AND origin = 'agent' AND state IN ('queued', 'blocked', 'running') LIMIT :most) AS made
