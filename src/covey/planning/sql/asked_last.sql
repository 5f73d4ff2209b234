-- When a planner was last asked on behalf of anybody, and how that task stands.
SELECT p.at, t.state FROM planned p LEFT JOIN tasks t ON t.id = p.task_id WHERE p.agent = :agent AND p.template = :template
