-- Whether urgent or high work waits for an agent.
SELECT 1 AS found FROM agent_queues q
 WHERE q.agent = :agent
   AND EXISTS (SELECT 1 FROM tasks t WHERE t.queue = q.queue AND t.state = 'queued' AND t.priority IN ('urgent', 'high') AND t.not_before <= :now)
 LIMIT 1
