-- What a task still waits for, by id.
SELECT needs_id FROM needs WHERE task_id = :task_id AND met_at IS NULL
