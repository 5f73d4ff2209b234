-- Messages that one agent sent or got with all these words, newest first; of each the first copy it may see.
SELECT m.id, m.sender, m.addressed, m.type, m.priority, m.subject, m.body, m.data, m.requires_response, m.deadline, m.thread_id, m.is_peer_dm, m.project_id,
       m.related_tasks, m.in_reply_to, m.reply_note, m.visited, m.expires_at, m.traceparent, m.created_at, m.sent_at,
       c.seq AS copy_seq, c.receiver, c.state, c.attempts, c.link_id, c.deliver_at, c.delivered_at, c.seen_at, c.handled_at, c.ended_at, c.reason, c.answered_by
  FROM copies c JOIN messages m ON m.id = c.message_id
 WHERE m.seq IN (SELECT rowid FROM message_words WHERE /*sqlite*/message_words MATCH :match/*end*/ /*postgres: words @> :words::text[]*/)
   AND c.seq = (SELECT min(o.seq) FROM copies o WHERE o.message_id = m.id AND (m.sender = :name OR o.receiver = :name))
 ORDER BY m.seq DESC LIMIT :limit
