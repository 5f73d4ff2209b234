-- Open incidents of agents that were removed from the fleet.
SELECT i.id FROM incidents i JOIN agents a ON a.id = i.agent WHERE i.ended_at IS NULL AND a.removed_at IS NOT NULL
