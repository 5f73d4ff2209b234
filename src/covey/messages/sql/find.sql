-- A message by its id, without its copies.
SELECT id, sender, requires_response, thread_id, project_id, visited, digest, created_at, reply_note, in_reply_to, type, subject, outcomes, traceparent
  FROM messages WHERE id = :id
