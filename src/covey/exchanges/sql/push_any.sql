-- A place that may get news still, if there is one.
SELECT id FROM pushes WHERE ended_at IS NULL LIMIT 1
