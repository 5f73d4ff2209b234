-- Remember that a message from outside began a task.
INSERT INTO exchanges (task_id, agent, caller, thread_id, created_at) VALUES (:task_id, :agent, :caller, :thread_id, :now)
