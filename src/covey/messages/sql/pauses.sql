-- The threads that are paused.
SELECT thread_id, at, reason FROM thread_pauses WHERE thread_id > :after ORDER BY thread_id LIMIT :limit
