-- The open tasks in an agent's queue.
SELECT id, state, origin, schedule, approval FROM tasks WHERE agent = :agent AND state IN ('queued', 'blocked', 'running')
