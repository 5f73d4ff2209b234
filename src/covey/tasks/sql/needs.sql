-- What a task needs.
SELECT needs_id FROM needs WHERE task_id = :task_id ORDER BY needs_id
