-- Heartbeats, and the calls of external agents, move with a step of the store's clock.
UPDATE vitals SET heartbeat_at = heartbeat_at + :seconds, seen_at = seen_at + :seconds WHERE heartbeat_at IS NOT NULL OR seen_at IS NOT NULL
