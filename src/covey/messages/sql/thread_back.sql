-- The end of a thread, or what stands before a copy of it, the latest first.
SELECT m.id, m.sender, m.addressed, m.type, m.priority, m.subject, m.body, m.data, m.requires_response, m.deadline, m.thread_id, m.is_peer_dm, m.project_id,
       m.related_tasks, m.in_reply_to, m.reply_note, m.visited, m.expires_at, m.traceparent, m.created_at, m.sent_at,
       c.seq AS copy_seq, c.receiver, c.state, c.attempts, c.link_id, c.deliver_at, c.delivered_at, c.seen_at, c.handled_at, c.ended_at, c.reason, c.answered_by
  FROM messages m JOIN copies c ON c.message_id = m.id
 WHERE m.thread_id = :thread_id AND m.seq <= :high AND (m.seq < :high OR c.seq < :before)
 ORDER BY m.seq DESC, c.seq DESC LIMIT :limit
