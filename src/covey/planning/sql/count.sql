-- A task that counts on an agent's budget.
INSERT INTO generated (task_id, agent, kind, at) VALUES (:task_id, :agent, :kind, :now) ON CONFLICT (task_id) DO NOTHING
