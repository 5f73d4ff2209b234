-- The agent is neither stopped nor paused.
UPDATE agents SET paused_at = NULL, stopped_at = NULL, flag_reason = NULL WHERE id = :id
