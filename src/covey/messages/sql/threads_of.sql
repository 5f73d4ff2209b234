-- The threads that one agent sent or got something in, the latest first.
SELECT thread_id, count(*) AS messages, max(created_at) AS last_at, max(seq) AS last_seq
  FROM messages m
 WHERE sender = :name OR EXISTS (SELECT 1 FROM copies c WHERE c.message_id = m.id AND c.receiver = :name)
 GROUP BY thread_id HAVING max(seq) < :before ORDER BY max(seq) DESC LIMIT :limit
