-- The copies of some messages that follow one another.
SELECT c.message_id, c.receiver, c.state, c.wakes, c.not_before, c.attempts, c.deliver_at, c.delivered_at, c.seen_at, c.handled_at, c.ended_at,
       c.reason, c.answer_due, c.answered_at, c.answered_by, c.gave_up_at, c.link_id
  FROM messages m JOIN copies c ON c.message_id = m.id WHERE m.seq > :after AND m.seq <= :last ORDER BY m.seq, c.seq
