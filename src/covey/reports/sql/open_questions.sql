-- Who waits for whose answer, the soonest deadline first.
SELECT c.sender, c.receiver, c.message_id, c.answer_due, c.state, m.subject, substr(m.body, 1, 200) AS body, m.created_at
  FROM copies c JOIN messages m ON m.id = c.message_id WHERE c.answer_due IS NOT NULL ORDER BY c.answer_due LIMIT :limit
