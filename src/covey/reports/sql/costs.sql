-- What the runs cost that ended since a time, by agent.
SELECT agent, count(*) AS runs, sum(CASE WHEN outcome IN ('failed', 'lost') THEN 1 ELSE 0 END) AS failed, coalesce(sum(cost_usd), 0) AS usd,
       coalesce(sum(tokens), 0) AS tokens, sum(CASE WHEN cost_usd IS NOT NULL THEN 1 ELSE 0 END) AS priced,
       coalesce(sum(ended_at - claimed_at), 0) AS seconds
  FROM runs WHERE ended_at IS NOT NULL AND ended_at >= :since GROUP BY /*sqlite*/+/*end*/agent
