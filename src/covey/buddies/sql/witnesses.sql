-- Other agents that beat, to see whether an agent reaches anybody: the lead and the deputy first, then in the fleet's order.
SELECT a.id AS name, a.host, a.port FROM agents a JOIN vitals v ON v.agent = a.id
 WHERE a.removed_at IS NULL AND a.brain <> 'external' AND a.id <> :checker AND a.id <> :checked AND v.heartbeat_at >= :since
 ORDER BY CASE WHEN a.id IN (:lead, :deputy) THEN 0 ELSE 1 END, a.place LIMIT :limit
