-- The agents that live, may work, and have had nothing to do for long: no task of their own, nothing with their brain, no mail that
-- wakes them. Not those of whose idleness an incident has told already.
SELECT a.id, v.last_active_at, v.started_at
  FROM agents a JOIN vitals v ON v.agent = a.id
 WHERE a.removed_at IS NULL AND a.paused_at IS NULL AND a.stopped_at IS NULL AND a.failed_at IS NULL AND a.brain <> 'external'
   AND v.pid IS NOT NULL AND v.heartbeat_at > :alive_after AND v.started_at < :before AND coalesce(v.last_active_at, 0) < :before
   AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.agent = a.id AND t.state IN ('queued', 'blocked', 'running'))
   AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.holder = a.id AND t.state = 'running')
   AND NOT EXISTS (SELECT 1 FROM copies c WHERE c.receiver = a.id AND c.state = 'seen')
   AND NOT EXISTS (SELECT 1 FROM copies c WHERE c.receiver = a.id AND c.wakes = 1 AND c.state = 'delivered')
   AND NOT EXISTS (SELECT 1 FROM incidents i WHERE i.agent = a.id AND i.kind = 'excessive_idle' AND i.opened_at >= coalesce(v.last_active_at, 0))
 ORDER BY a.place LIMIT :limit
