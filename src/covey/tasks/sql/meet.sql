-- What needed a task needs it no more.
UPDATE needs SET met_at = :now WHERE needs_id = :needs_id AND met_at IS NULL RETURNING task_id
