-- A node lives.
UPDATE nodes SET heartbeat_at = :now WHERE id = :id
