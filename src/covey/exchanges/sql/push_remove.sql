-- Push no more news of a task there.
DELETE FROM pushes WHERE task_id = :task_id AND id = :id
