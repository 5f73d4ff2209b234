-- An alert in the operator's inbox.
SELECT m.id, m.sender, m.priority, m.subject, m.body, m.created_at
  FROM messages m JOIN copies c ON c.message_id = m.id AND c.receiver = 'operator'
 WHERE m.id = :id AND (m.type = 'alert' OR m.priority = 'urgent')
