-- The oldest mail, with how many of its copies are to be kept.
SELECT m.seq, m.id, m.created_at,
       (SELECT count(*) FROM copies c
         WHERE c.message_id = m.id
           AND (c.state NOT IN ('handled', 'expired') OR c.answer_due IS NOT NULL OR coalesce(c.ended_at, c.handled_at, :before) >= :before)) AS kept
  FROM messages m WHERE m.seq > :after ORDER BY m.seq LIMIT :limit
