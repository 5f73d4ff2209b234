-- The agents that needed a restart for too long, about whom no person has been called.
SELECT i.agent, min(i.opened_at) AS since FROM incidents i JOIN agents a ON a.id = i.agent
 WHERE i.ended_at IS NULL AND i.kind IN ('heartbeat_stale', 'hung', 'process_died') AND i.opened_at <= :before
   AND a.removed_at IS NULL AND a.failed_at IS NULL
   AND NOT EXISTS (SELECT 1 FROM incidents n WHERE n.agent = i.agent AND n.kind = 'needs_restart' AND n.ended_at IS NULL)
 GROUP BY i.agent ORDER BY i.agent
