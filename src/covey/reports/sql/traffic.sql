-- Who wrote to whom since a time, how often, and how much of it is handled; among the latest messages.
SELECT m.sender, c.receiver, count(*) AS messages, sum(CASE WHEN c.state = 'handled' THEN 1 ELSE 0 END) AS handled,
       sum(CASE WHEN m.requires_response = 1 THEN 1 ELSE 0 END) AS questions, sum(CASE WHEN c.answered_at IS NOT NULL THEN 1 ELSE 0 END) AS answered
  FROM (SELECT id, sender, requires_response FROM messages WHERE created_at >= :since ORDER BY created_at DESC LIMIT :limit) m
  JOIN copies c ON c.message_id = m.id
 GROUP BY m.sender, c.receiver ORDER BY count(*) DESC, m.sender, c.receiver
