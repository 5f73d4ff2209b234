-- A failed task waits again with all its attempts; a deadline that has passed holds no more.
UPDATE tasks
   SET state = :state, attempts = 0, not_before = :now, finished_at = NULL, error = NULL, failed_by = '[]', refused_by = NULL, holder = NULL, run_id = NULL,
       claimed_at = NULL, started_at = NULL, blockers = :blockers, waiting_for = NULL,
       deadline = CASE WHEN deadline <= :now THEN NULL ELSE deadline END
 WHERE id = :id
