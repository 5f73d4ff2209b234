-- The open task of a dedupeKey.
SELECT id FROM tasks WHERE dedupe_key = :dedupe_key AND state IN ('queued', 'blocked', 'running')
