-- Forget the checks by and of agents that were removed; the controller, which checks whom nobody watches, is none.
DELETE FROM buddy_checks
 WHERE checked NOT IN (SELECT id FROM agents WHERE removed_at IS NULL)
    OR (checker NOT IN (SELECT id FROM agents WHERE removed_at IS NULL) AND checker NOT LIKE 'controller:%')
