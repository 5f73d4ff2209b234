-- What a message is, without its text.
SELECT m.id, m.sender, m.type, m.priority, m.subject, substr(m.body, 1, 200) AS body, m.requires_response, m.deadline, m.thread_id, m.in_reply_to, m.reply_note,
       m.created_at, p.reason AS paused_why
  FROM messages m LEFT JOIN thread_pauses p ON p.thread_id = m.thread_id WHERE m.id = :id
