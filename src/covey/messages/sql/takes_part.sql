-- Whether somebody sent or got something in a thread.
SELECT 1 AS found FROM messages m
 WHERE m.thread_id = :thread_id AND (m.sender = :name OR EXISTS (SELECT 1 FROM copies c WHERE c.message_id = m.id AND c.receiver = :name)) LIMIT 1
