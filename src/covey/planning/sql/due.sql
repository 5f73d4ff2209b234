-- Agents that have nothing in hand or in their queue and are due for a look, the longest due first.
SELECT a.id
  FROM agents a LEFT JOIN plannings p ON p.agent = a.id
 WHERE a.removed_at IS NULL AND a.paused_at IS NULL AND a.stopped_at IS NULL AND a.failed_at IS NULL AND coalesce(p.next_at, 0) <= :now
   AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.agent = a.id AND t.state IN ('queued', 'blocked', 'running') AND t.approval IS NULL)
   AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.holder = a.id AND t.state = 'running')
 ORDER BY coalesce(p.next_at, 0), a.place LIMIT :limit
