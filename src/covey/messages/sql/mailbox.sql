-- Whose mailbox it is, and whether its mail is held.
SELECT id, removed_at, paused_at, stopped_at FROM agents WHERE id = :id
