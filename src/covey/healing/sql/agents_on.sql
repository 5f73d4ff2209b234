-- The agents that live on a node.
SELECT v.agent FROM vitals v JOIN agents a ON a.id = v.agent
 WHERE v.node = :node AND v.pid IS NOT NULL AND a.removed_at IS NULL ORDER BY a.place
