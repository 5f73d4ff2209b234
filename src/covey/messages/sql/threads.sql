-- Threads with the place of the last message of each, so many at most: from id to id over the index, not over all messages.
WITH RECURSIVE ids (thread_id) AS (
  SELECT min(thread_id) FROM messages
  UNION ALL
  SELECT (SELECT min(m.thread_id) FROM messages m WHERE m.thread_id > ids.thread_id) FROM ids WHERE ids.thread_id IS NOT NULL
)
SELECT ids.thread_id, (SELECT max(m.seq) FROM messages m WHERE m.thread_id = ids.thread_id) AS last_seq
  FROM ids WHERE ids.thread_id IS NOT NULL LIMIT :limit
