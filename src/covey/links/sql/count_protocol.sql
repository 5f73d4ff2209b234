-- Count one message of the protocol against its pair's minute; below zero it is over the cap.
INSERT INTO peer_states (link_id, channel, sender, credits, reset_at, last_at, recent)
VALUES (:link_id, 'protocol', '', :most - 1, :now + 60, :now, '[]')
ON CONFLICT (link_id, channel, sender) DO UPDATE SET
  credits = CASE WHEN peer_states.reset_at <= :now THEN :most - 1 ELSE peer_states.credits - 1 END,
  reset_at = CASE WHEN peer_states.reset_at <= :now THEN :now + 60 ELSE peer_states.reset_at END, last_at = :now
RETURNING credits, reset_at
