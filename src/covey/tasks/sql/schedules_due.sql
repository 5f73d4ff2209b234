-- Schedules whose slot has come.
SELECT name, settings, next_at FROM schedules WHERE removed_at IS NULL AND next_at <= :now ORDER BY next_at LIMIT :limit
