-- The external agents that have not called for their cadence and a while, whose own tasks wait.
SELECT a.id AS agent
  FROM agents a JOIN vitals v ON v.agent = a.id
 WHERE a.brain = 'external' AND a.removed_at IS NULL
   AND coalesce(v.seen_at, a.created_at) + CAST(coalesce(a.settings/*postgres:::jsonb*/ ->> 'cadence_s', '3600') AS REAL) <= :before
   AND EXISTS (SELECT 1 FROM tasks t WHERE t.agent = a.id AND t.state IN ('queued', 'blocked', 'running') AND t.state <> 'running'
                  AND t.split_at IS NULL AND t.waiting_for IS NULL)
 ORDER BY a.id LIMIT :limit
