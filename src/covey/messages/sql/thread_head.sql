-- A thread's last message and how many it has.
SELECT h.messages, h.last_seq, m.created_at AS last_at
  FROM (SELECT count(*) AS messages, max(seq) AS last_seq FROM messages WHERE thread_id = :thread_id) h JOIN messages m ON m.seq = h.last_seq
