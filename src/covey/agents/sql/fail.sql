-- Restarts are given up, or tried again.
UPDATE agents SET failed_at = :at, failed_reason = :reason WHERE id = :agent
