-- A template was made into a task.
INSERT INTO planned (agent, template, task_id, at) VALUES (:agent, :template, :task_id, :now)
  ON CONFLICT (agent, template) DO UPDATE SET task_id = excluded.task_id, at = excluded.at
