-- Some agents of the fleet in its order, after a place.
SELECT id, place, role, host, port, buddy, owner, organisation, brain, capabilities, settings, created_at, removed_at, paused_at, stopped_at, flag_reason, failed_at, failed_reason
  FROM agents WHERE removed_at IS NULL AND place > :after ORDER BY place LIMIT :limit
