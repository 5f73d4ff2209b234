-- The agents that have been down for a while, not heard of since, whose own tasks wait.
SELECT DISTINCT i.agent
  FROM incidents i JOIN agents a ON a.id = i.agent JOIN vitals v ON v.agent = i.agent
 WHERE i.ended_at IS NULL AND i.kind IN ('process_died', 'hung', 'heartbeat_stale', 'crash_loop') AND i.opened_at <= :before
   AND a.removed_at IS NULL AND coalesce(v.heartbeat_at, 0) <= i.opened_at
   AND EXISTS (SELECT 1 FROM tasks t WHERE t.agent = i.agent AND t.state IN ('queued', 'blocked', 'running') AND t.state <> 'running'
                  AND t.split_at IS NULL AND t.waiting_for IS NULL)
 ORDER BY i.agent LIMIT :limit
