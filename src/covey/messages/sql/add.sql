-- Store a message.
INSERT INTO messages (id, sender, addressed, type, priority, subject, body, data, requires_response, deadline, thread_id, is_peer_dm, project_id,
  related_tasks, in_reply_to, reply_note, visited, expires_at, traceparent, created_at, sent_at, digest, origin, turns)
VALUES (:id, :sender, :addressed, :type, :priority, :subject, :body, :data, :requires_response, :deadline, :thread_id, :is_peer_dm, :project_id,
  :related_tasks, :in_reply_to, :reply_note, :visited, :expires_at, :traceparent, :now, :sent_at, :digest, :origin, :turns)
