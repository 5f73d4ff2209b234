-- The first tasks of an agent's own queue, in the order in which they are taken.
SELECT id, priority, created_by, substr(description, 1, 301) AS description
  FROM tasks WHERE queue = :agent AND state = 'queued' ORDER BY not_urgent, sort_key, seq LIMIT :limit
