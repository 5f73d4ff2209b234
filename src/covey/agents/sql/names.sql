-- The names of all agents in the fleet's order.
SELECT id FROM agents WHERE removed_at IS NULL ORDER BY place
