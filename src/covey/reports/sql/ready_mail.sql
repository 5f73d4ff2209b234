-- The agents whom mail that wakes waits for.
SELECT a.id FROM agents a
 WHERE a.removed_at IS NULL AND a.id >= :low AND a.id <= :high
   AND EXISTS (SELECT 1 FROM copies c WHERE c.receiver = a.id AND c.wakes = 1 AND c.state = 'delivered' AND c.not_before <= :now)
