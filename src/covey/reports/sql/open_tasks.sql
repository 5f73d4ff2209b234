-- How many open tasks each agent has.
SELECT agent, count(*) AS tasks FROM tasks
 WHERE state IN ('queued', 'blocked', 'running') AND agent >= :low AND agent <= :high GROUP BY agent
