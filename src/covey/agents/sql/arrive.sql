-- The process of an agent has started.
UPDATE vitals
   SET node = :node, pid = :pid, start_ticks = :start_ticks, boot_id = :boot_id, heartbeat_at = :now,
       restarts = restarts + CASE WHEN started_at IS NULL THEN 0 ELSE 1 END, started_at = :now
 WHERE agent = :agent
RETURNING restarts
