-- The agents whose own process has not beaten for too long, while a node that could have started them was there.
SELECT v.agent, v.heartbeat_at
  FROM vitals v JOIN agents a ON a.id = v.agent
 WHERE v.heartbeat_at < :before AND a.removed_at IS NULL AND a.failed_at IS NULL AND a.brain <> 'external'
   AND coalesce((SELECT n.started_at FROM nodes n WHERE n.id = v.node), (SELECT min(n.started_at) FROM nodes n WHERE n.stopped_at IS NULL), 0)
     < :before
   AND NOT EXISTS (SELECT 1 FROM incidents i WHERE i.agent = v.agent AND i.kind = 'heartbeat_stale' AND i.ended_at IS NULL)
 ORDER BY v.heartbeat_at LIMIT :limit
