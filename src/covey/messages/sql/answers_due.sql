-- Waits whose deadline has passed.
SELECT c.message_id, c.sender, c.receiver, m.priority, m.subject, m.body
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE c.answer_due IS NOT NULL AND c.answer_due <= :now ORDER BY c.answer_due LIMIT :limit
