-- The quiet mail that an agent may take now, in order.
SELECT c.seq, c.delivered_at, octet_length(m.body) AS size
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE c.receiver = :receiver AND c.wakes = 0 AND c.state = 'delivered' AND c.not_before <= :now AND (c.expires_at IS NULL OR c.expires_at > :now)
   AND EXISTS (SELECT 1 FROM agents WHERE id = :receiver AND paused_at IS NULL AND stopped_at IS NULL AND failed_at IS NULL AND removed_at IS NULL)
 ORDER BY c.not_urgent, c.sort_key, c.seq LIMIT :limit /*postgres: FOR UPDATE OF c SKIP LOCKED*/
