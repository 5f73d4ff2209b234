-- How far a task is.
UPDATE tasks SET progress = :progress, progress_at = :now WHERE token = :token AND state = 'running'
