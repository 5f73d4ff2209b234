-- On which projects each agent has open tasks.
SELECT DISTINCT coalesce(agent, holder) AS agent, project_id FROM tasks
 WHERE project_id IS NOT NULL AND state IN ('queued', 'blocked', 'running') AND coalesce(agent, holder) >= :low AND coalesce(agent, holder) <= :high
