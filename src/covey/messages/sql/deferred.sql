-- Deferred mail, in the order in which it was stored.
SELECT m.id, m.sender, m.addressed, m.type, m.priority, m.subject, m.body, m.data, m.requires_response, m.deadline, m.thread_id, m.is_peer_dm, m.project_id,
       m.related_tasks, m.in_reply_to, m.reply_note, m.visited, m.expires_at, m.traceparent, m.created_at, m.sent_at,
       c.seq AS copy_seq, c.receiver, c.state, c.attempts, c.link_id, c.deliver_at, c.delivered_at, c.seen_at, c.handled_at, c.ended_at, c.reason, c.answered_by
  FROM copies c JOIN messages m ON m.id = c.message_id JOIN agents a ON a.id = c.sender
 WHERE c.state = 'deferred' AND c.seq > :after AND (:all = 1 OR c.sender = :agent OR a.owner = :owner) ORDER BY c.seq LIMIT :limit
