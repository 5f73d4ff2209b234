-- The size of each agent's live context, why it is too large, if what it must keep is, and how often it was cut back.
SELECT e.agent, sum(e.tokens) AS tokens, (SELECT c.too_large FROM contexts c WHERE c.agent = e.agent) AS too_large,
       coalesce((SELECT c.emergencies FROM contexts c WHERE c.agent = e.agent), 0) AS overflows
  FROM entries e /*sqlite*/INDEXED BY entries_live/*end*/ WHERE e.archived_at IS NULL AND e.agent >= :low AND e.agent <= :high GROUP BY e.agent
