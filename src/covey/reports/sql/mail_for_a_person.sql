-- What waits in a mailbox that a person is to answer or to know at once, the oldest first.
SELECT m.id, m.thread_id, m.sender, m.type, m.priority, m.subject, substr(m.body, 1, 300) AS body, m.requires_response, m.deadline, c.delivered_at
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE c.receiver = :receiver AND c.state = 'delivered' AND (m.requires_response = 1 OR m.type = 'alert' OR m.priority = 'urgent')
 ORDER BY c.seq LIMIT :limit
