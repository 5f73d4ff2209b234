-- Who can take work of a queue right now, in the fleet's order, with how much each has already.
SELECT a.id, a.brain, a.place,
       (SELECT count(*) FROM tasks t WHERE t.agent = a.id AND t.state IN ('queued', 'blocked', 'running')) AS tasks
  FROM agent_queues q JOIN agents a ON a.id = q.agent JOIN vitals v ON v.agent = a.id
 WHERE q.queue = :queue AND a.removed_at IS NULL AND a.paused_at IS NULL AND a.stopped_at IS NULL AND a.failed_at IS NULL
   AND a.brain <> 'external' AND v.pid IS NOT NULL AND v.heartbeat_at > :alive_after
   AND NOT EXISTS (SELECT 1 FROM breakers b WHERE b.agent = a.id AND b.opened_at IS NOT NULL)
 ORDER BY a.place
