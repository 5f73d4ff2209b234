-- A node is there.
INSERT INTO nodes (id, host, pid, start_ticks, boot_id, started_at, heartbeat_at, version)
VALUES (:id, :host, :pid, :start_ticks, :boot_id, :now, :now, :version)
ON CONFLICT (id) DO UPDATE SET
  host = excluded.host, pid = excluded.pid, start_ticks = excluded.start_ticks, boot_id = excluded.boot_id, started_at = excluded.started_at,
  heartbeat_at = excluded.heartbeat_at, version = excluded.version, stopped_at = NULL
