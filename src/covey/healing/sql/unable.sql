-- The shared queues from :low to :high in which work has waited since :before that nobody is able to take now: nobody at all, or nobody
-- who has not refused it.
-- From one queue with work to the next over the index.
WITH RECURSIVE found (queue) AS (
  SELECT min(queue) FROM tasks WHERE state = 'queued' AND queue >= :low AND queue < :high
  UNION ALL
  SELECT (SELECT min(t.queue) FROM tasks t WHERE t.state = 'queued' AND t.queue > found.queue AND t.queue < :high)
    FROM found WHERE found.queue IS NOT NULL
)
SELECT f.queue FROM found f
 WHERE f.queue IS NOT NULL
   AND ((EXISTS (SELECT 1 FROM tasks t WHERE t.queue = f.queue AND t.state = 'queued' AND t.not_before <= :before)
         AND NOT EXISTS (SELECT 1 FROM agent_queues q JOIN agents a ON a.id = q.agent JOIN vitals v ON v.agent = a.id
                         WHERE q.queue = f.queue AND a.removed_at IS NULL AND a.paused_at IS NULL AND a.stopped_at IS NULL AND a.failed_at IS NULL
                           AND CASE WHEN a.brain = 'external' THEN v.seen_at > :seen_after ELSE v.heartbeat_at > :alive_after END
                           AND NOT EXISTS (SELECT 1 FROM breakers b WHERE b.agent = a.id AND b.until > :now)))
        OR EXISTS (SELECT 1 FROM tasks t
                    WHERE t.queue = f.queue AND t.state = 'queued' AND t.refused_by IS NOT NULL AND t.not_before <= :before
                      AND NOT EXISTS (SELECT 1 FROM agent_queues q JOIN agents a ON a.id = q.agent JOIN vitals v ON v.agent = a.id
                                       WHERE q.queue = f.queue AND a.removed_at IS NULL AND a.paused_at IS NULL AND a.stopped_at IS NULL AND a.failed_at IS NULL
                                         AND CASE WHEN a.brain = 'external' THEN v.seen_at > :seen_after ELSE v.heartbeat_at > :alive_after END
                                         AND NOT EXISTS (SELECT 1 FROM breakers b WHERE b.agent = a.id AND b.until > :now)
                                        AND t.refused_by NOT LIKE '%<' || a.id || '>%')))
