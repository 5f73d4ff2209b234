-- A task of a shared queue waits for others: this agent's brain can't do it. The attempt is taken back.
UPDATE tasks
   SET state = 'queued', not_before = :now, error = :error, failed_by = :failed_by, attempts = attempts - 1,
       refused_by = coalesce(refused_by, '') || :mark, holder = NULL, token = NULL, run_id = NULL, lease_ends = NULL, claimed_at = NULL,
       started_at = NULL
 WHERE id = :id
