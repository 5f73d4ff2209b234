-- One direction of a link as another store had it, unless this one has it already.
INSERT INTO peer_states (link_id, channel, sender, credits, reset_at, began_at, last_at, last_run, recent)
VALUES (:link_id, 'dm', :sender, :credits, :reset_at, :began_at, :last_at, :last_run, :recent) ON CONFLICT (link_id, channel, sender) DO NOTHING
