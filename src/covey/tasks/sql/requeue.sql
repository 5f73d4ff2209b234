-- A claimed task waits again; `back` takes the attempt back.
UPDATE tasks
   SET state = 'queued', not_before = :not_before, error = :error, failed_by = :failed_by, attempts = attempts - :back,
       holder = NULL, token = NULL, run_id = NULL, lease_ends = NULL, claimed_at = NULL, started_at = NULL
 WHERE id = :id
