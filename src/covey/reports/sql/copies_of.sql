-- A message's copies, with all that says where each stands.
SELECT c.seq, c.message_id, c.receiver, c.sender, c.state, c.wakes, c.not_urgent, c.sort_key, c.not_before, c.attempts, c.lease_ends, c.deliver_at,
       c.expires_at, c.delivered_at, c.seen_at, c.handled_at, c.ended_at, c.reason, c.answer_due, c.answered_at, c.answered_by, c.gave_up_at
  FROM copies c WHERE c.message_id = :id ORDER BY c.seq LIMIT :limit
