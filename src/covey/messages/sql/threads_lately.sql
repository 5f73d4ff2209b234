-- The threads of the last messages, the latest first.
SELECT thread_id, seq FROM messages WHERE seq < :before ORDER BY seq DESC LIMIT :limit
