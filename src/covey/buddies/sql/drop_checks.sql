-- Forget the checks of agents that were removed.
DELETE FROM buddy_checks WHERE checker NOT IN (SELECT id FROM agents WHERE removed_at IS NULL)
