-- The size of each agent's live context.
SELECT agent, sum(tokens) AS tokens FROM entries WHERE archived_at IS NULL AND agent >= :low AND agent <= :high GROUP BY agent
