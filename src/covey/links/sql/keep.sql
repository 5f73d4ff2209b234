-- What is left in one direction, and what was accepted last.
INSERT INTO peer_states (link_id, channel, sender, credits, reset_at, began_at, last_at, last_run, recent)
VALUES (:link_id, 'dm', :sender, :credits, :reset_at, :began_at, :last_at, :last_run, :recent)
ON CONFLICT (link_id, channel, sender) DO UPDATE SET credits = excluded.credits, reset_at = excluded.reset_at, began_at = excluded.began_at,
  last_at = excluded.last_at, last_run = excluded.last_run, recent = excluded.recent
