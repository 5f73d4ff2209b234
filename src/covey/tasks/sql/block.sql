-- A task waits for an answer or for its parts.
UPDATE tasks
   SET state = 'blocked', blockers = :blockers, waiting_for = :waiting_for, split_at = coalesce(:split_at, split_at), attempts = :attempts,
       holder = NULL, token = NULL, run_id = NULL, lease_ends = NULL, claimed_at = NULL, started_at = NULL
 WHERE id = :id
