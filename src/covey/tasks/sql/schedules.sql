-- All schedules.
SELECT name, settings, next_at, last_slot, last_task FROM schedules WHERE removed_at IS NULL ORDER BY name
