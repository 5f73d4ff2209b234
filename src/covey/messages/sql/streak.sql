-- When the two who take turns in a thread began to.
SELECT created_at FROM messages WHERE thread_id = :thread_id AND turns = 1 ORDER BY seq DESC LIMIT 1
