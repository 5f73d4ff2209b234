-- A task needs another one again.
UPDATE needs SET met_at = NULL WHERE task_id = :task_id AND needs_id = :needs_id
