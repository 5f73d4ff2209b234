-- The deferred copies of one message.
SELECT c.seq, c.message_id, c.receiver, c.sender, c.answer_due, m.requires_response, m.subject, m.body
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE c.message_id = :id AND c.state = 'deferred' ORDER BY c.seq
