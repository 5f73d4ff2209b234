-- Whether a slot of a schedule has not been served yet.
SELECT 1 AS found FROM schedules WHERE name = :name AND next_at = :next_at AND removed_at IS NULL
