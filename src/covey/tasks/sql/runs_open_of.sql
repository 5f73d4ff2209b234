-- The runs of an agent that have not ended.
SELECT id, item, kind, node, attempt, pid, pgid, start_ticks, boot_id, claimed_at, started_at FROM runs WHERE agent = :agent AND ended_at IS NULL
