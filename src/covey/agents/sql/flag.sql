-- Set or clear the stop and pause flags.
UPDATE agents SET paused_at = :paused, stopped_at = :stopped, flag_reason = :reason WHERE id = :id
