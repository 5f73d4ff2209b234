-- The queues in which work is ready.
SELECT q.queue FROM (SELECT DISTINCT queue FROM agent_queues WHERE agent >= :low AND agent <= :high) q
 WHERE EXISTS (SELECT 1 FROM tasks t WHERE t.queue = q.queue AND t.state = 'queued' AND t.not_before <= :now)
