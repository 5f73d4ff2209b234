-- Who has a capability and may be given work of it, in the fleet's order: with what brain, how much it has to do, whether it lives.
SELECT a.id, a.brain, a.place,
       (SELECT count(*) FROM tasks t WHERE t.agent = a.id AND t.state IN ('queued', 'blocked', 'running')) AS tasks,
       CASE WHEN a.brain = 'external' OR (v.pid IS NOT NULL AND v.heartbeat_at > :alive_after) THEN 1 ELSE 0 END AS lives
  FROM agent_queues q JOIN agents a ON a.id = q.agent JOIN vitals v ON v.agent = a.id
 WHERE q.queue = :queue AND a.removed_at IS NULL AND a.paused_at IS NULL AND a.stopped_at IS NULL AND a.failed_at IS NULL
   AND NOT EXISTS (SELECT 1 FROM breakers b WHERE b.agent = a.id AND b.opened_at IS NOT NULL)
 ORDER BY a.place
