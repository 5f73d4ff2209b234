-- Deferred mail that can't be handled in time any more.
SELECT c.seq, c.message_id, c.receiver, c.sender, c.answer_due, m.requires_response, m.subject, m.body
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE c.state = 'deferred' AND c.expires_at IS NOT NULL AND c.expires_at <= :now ORDER BY c.expires_at LIMIT :limit
