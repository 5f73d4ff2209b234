-- Remember under which ids another system's agent has a piece of our work, or a conversation with ours.
INSERT INTO abroad (key, agent, url, task_id, context_id, at) VALUES (:key, :agent, :url, :task_id, :context_id, :now)
ON CONFLICT (key) DO UPDATE SET agent = excluded.agent, url = excluded.url, task_id = excluded.task_id, context_id = excluded.context_id, at = excluded.at
