-- Every capability that somebody has: from one global queue to the next over the index, not over all agents.
WITH RECURSIVE found (queue) AS (
  SELECT min(queue) FROM agent_queues WHERE queue >= 'global:' AND queue < 'global;'
  UNION ALL
  SELECT (SELECT min(q.queue) FROM agent_queues q WHERE q.queue > found.queue AND q.queue < 'global;') FROM found WHERE found.queue IS NOT NULL
)
SELECT substr(queue, 8) AS capability FROM found WHERE queue IS NOT NULL
