-- Agents whose look after their buddy is too late, or may be: the hourly one, or a sooner one at a buddy in trouble.
SELECT a.id AS checker, a.created_at, v.last_buddy_check, b.id AS checked, b.host, b.port, b.brain
  FROM agents a JOIN vitals v ON v.agent = a.id JOIN agents b ON b.id = a.buddy AND b.removed_at IS NULL
 WHERE a.removed_at IS NULL
   AND (v.last_buddy_check IS NULL OR v.last_buddy_check < :checked_before
        OR EXISTS (SELECT 1 FROM buddy_checks c WHERE c.checker = a.id AND c.checked = a.buddy AND c.look_at < :look_before))
 ORDER BY a.place
