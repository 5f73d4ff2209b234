-- Whether somebody else takes work from a queue and has not said of this task that it can't do it.
SELECT 1 AS found FROM agent_queues q JOIN agents a ON a.id = q.agent
 WHERE q.queue = :queue AND a.id <> :agent AND a.removed_at IS NULL AND :refused_by NOT LIKE '%<' || a.id || '>%' LIMIT 1
