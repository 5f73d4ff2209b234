-- The process of a run.
UPDATE runs SET pid = :pid, pgid = :pgid, start_ticks = :start_ticks, boot_id = :boot_id, started_at = :now WHERE id = :id
