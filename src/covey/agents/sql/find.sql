-- One agent, removed or not.
SELECT id, place, role, host, port, buddy, owner, organisation, brain, capabilities, settings, created_at, removed_at, paused_at, stopped_at, flag_reason, failed_at, failed_reason
  FROM agents WHERE id = :id
