-- An exchange by its task.
SELECT seq, task_id, agent, caller, thread_id, created_at FROM exchanges WHERE task_id = :task_id
