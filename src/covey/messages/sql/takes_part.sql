-- Whether somebody sent or got one of the last messages of a thread.
SELECT 1 AS found FROM (SELECT id, sender FROM messages WHERE thread_id = :thread_id ORDER BY seq DESC LIMIT :last) m
 WHERE m.sender = :name OR EXISTS (SELECT 1 FROM copies c WHERE c.message_id = m.id AND c.receiver = :name) LIMIT 1
