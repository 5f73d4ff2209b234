-- Messages in the order in which they were stored, without their copies.
SELECT seq, id, sender, addressed, type, priority, subject, body, data, requires_response, deadline, thread_id, is_peer_dm, project_id,
       related_tasks, in_reply_to, reply_note, visited, expires_at, traceparent, created_at, sent_at, digest
  FROM messages WHERE seq > :after ORDER BY seq LIMIT :limit
