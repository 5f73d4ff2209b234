-- The first messages that wait in a mailbox, of those that wake or of the quiet ones, in the order in which they are taken.
SELECT m.id, m.sender, m.addressed, m.type, m.priority, substr(m.subject, 1, 200) AS subject, substr(m.body, 1, 601) AS body, '{}' AS data,
       m.requires_response, m.deadline, m.thread_id, m.is_peer_dm, m.project_id,
       m.related_tasks, m.in_reply_to, m.reply_note, m.visited, m.expires_at, m.traceparent, m.created_at, m.sent_at,
       c.seq AS copy_seq, c.receiver, c.state, c.attempts, c.link_id, c.deliver_at, c.delivered_at, c.seen_at, c.handled_at, c.ended_at, c.reason, c.answered_by
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE c.receiver = :agent AND c.wakes = :wakes AND c.state = 'delivered'
 ORDER BY c.not_urgent, c.sort_key, c.seq LIMIT :limit
