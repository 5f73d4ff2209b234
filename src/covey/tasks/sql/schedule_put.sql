-- Add a schedule or change it.
INSERT INTO schedules (name, settings, next_at) VALUES (:name, :settings, :next_at)
ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, next_at = excluded.next_at, removed_at = NULL
