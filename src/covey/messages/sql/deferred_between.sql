-- Deferred mail of one direction.
SELECT c.seq, c.message_id, c.receiver, c.sender, c.answer_due, m.requires_response, m.subject, m.body
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE c.sender = :sender AND c.receiver = :receiver AND c.state = 'deferred' ORDER BY c.seq
