-- All nodes.
SELECT id, host, pid, start_ticks, boot_id, started_at, heartbeat_at, version, stopped_at FROM nodes ORDER BY id
