-- Close a task; its lease and token end.
UPDATE tasks
   SET state = :state, result = :result, error = :error, failed_by = :failed_by, finished_at = :now, token = NULL, lease_ends = NULL, blockers = 0,
       waiting_for = NULL
 WHERE id = :id
