-- Whether an answer to a message may still come to its sender: it is waited for, or lies unread.
SELECT 1 AS found FROM copies WHERE message_id = :id AND answer_due IS NOT NULL
UNION ALL
SELECT 1 AS found
  FROM messages asked JOIN messages reply ON reply.in_reply_to = asked.id JOIN copies c ON c.message_id = reply.id AND c.receiver = asked.sender
 WHERE asked.id = :id AND c.state IN ('delivered', 'seen')
LIMIT 1
