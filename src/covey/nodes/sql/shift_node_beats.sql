-- Heartbeats of nodes move with a step of the store's clock.
UPDATE nodes SET heartbeat_at = heartbeat_at + :seconds WHERE stopped_at IS NULL
