-- Urgent mail that waits for an agent and was not shown to whoever covers it.
SELECT c.message_id, c.sender, m.subject, m.body, m.type
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE c.receiver = :agent AND c.wakes = 1 AND c.not_urgent = 0 AND c.state = 'delivered' AND c.not_before <= :now
   AND (c.expires_at IS NULL OR c.expires_at > :now)
   AND NOT EXISTS (SELECT 1 FROM covered_mail s WHERE s.agent = c.receiver AND s.message_id = c.message_id)
 ORDER BY c.sort_key, c.seq LIMIT :limit
