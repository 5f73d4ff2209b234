-- What a task needed, and that others needed it.
DELETE FROM needs WHERE task_id = :id OR needs_id = :id
