-- Agents that nobody watches and whose check by the controller is too late, or may be.
SELECT a.id AS checked, a.host, a.port, a.brain, a.created_at, c.at
  FROM agents a LEFT JOIN buddy_checks c ON c.checker = 'controller:' || a.id
 WHERE a.removed_at IS NULL
   AND a.id NOT IN (SELECT buddy FROM agents WHERE removed_at IS NULL)
   AND (c.at IS NULL OR c.at < :checked_before OR c.look_at < :look_before)
 ORDER BY a.place
