-- An agent's flags, whether it has mail or tasks to take, and whether the fleet has a live leader.
SELECT a.paused_at, a.stopped_at, a.removed_at,
  CASE WHEN a.failed_at IS NOT NULL OR EXISTS (SELECT 1 FROM breakers b WHERE b.agent = a.id AND b.until > :now) THEN 1 ELSE 0 END AS barred,
  CASE WHEN EXISTS (SELECT 1 FROM copies
                     WHERE receiver = :agent AND wakes = 1 AND state = 'delivered' AND not_before <= :now)
         OR EXISTS (SELECT 1 FROM copies c JOIN vitals v ON v.agent = c.receiver
                     WHERE c.receiver = :agent AND c.wakes = 0 AND c.state = 'delivered' AND c.not_before <= :now
                       AND c.delivered_at <= :quiet_before AND v.last_digest_at <= :quiet_before)
       THEN 1 ELSE 0 END AS mail,
  CASE WHEN EXISTS (SELECT 1 FROM agent_queues q JOIN tasks t ON t.queue = q.queue AND t.state = 'queued' AND t.not_before <= :now
                     WHERE q.agent = :agent)
       THEN 1 ELSE 0 END AS tasks,
  CASE WHEN EXISTS (SELECT 1 FROM leaders WHERE role = 'controller' AND until > :now) THEN 1 ELSE 0 END AS led
 FROM agents a WHERE a.id = :agent
