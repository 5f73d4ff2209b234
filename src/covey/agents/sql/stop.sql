-- The agent is stopped; it stays paused if it is.
UPDATE agents SET stopped_at = coalesce(stopped_at, :now), flag_reason = :reason WHERE id = :id
