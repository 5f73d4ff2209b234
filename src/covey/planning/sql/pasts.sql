-- When each template was last made for an agent, and how that task stands.
SELECT p.template, p.at, t.state, t.finished_at FROM planned p LEFT JOIN tasks t ON t.id = p.task_id WHERE p.agent = :agent
