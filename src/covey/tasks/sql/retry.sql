-- A failed task waits again with all its attempts.
UPDATE tasks
   SET state = 'queued', attempts = 0, not_before = :now, finished_at = NULL, error = NULL, failed_by = '[]', holder = NULL, run_id = NULL,
       claimed_at = NULL, started_at = NULL, blockers = 0
 WHERE id = :id
