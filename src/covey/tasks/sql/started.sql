-- The brain has started.
UPDATE tasks SET started_at = coalesce(started_at, :now) WHERE token = :token AND state = 'running'
