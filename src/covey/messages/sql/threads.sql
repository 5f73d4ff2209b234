-- Threads, the latest first.
SELECT thread_id, count(*) AS messages, max(created_at) AS last_at, max(seq) AS last_seq
  FROM messages GROUP BY thread_id HAVING max(seq) < :before ORDER BY max(seq) DESC LIMIT :limit
