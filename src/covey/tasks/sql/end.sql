-- Close a task; its lease and token end.
UPDATE tasks
   SET state = :state, result = :result, error = :error, failed_by = :failed_by, finished_at = :now, token = NULL, lease_ends = NULL, blockers = 0,
       waiting_for = NULL
 WHERE id = :id
RETURNING seq, id, description, data, state, queue, agent, capability, priority, not_urgent, sort_key, not_before, blockers, approval,
       anyway, parent_id, project_id, dedupe_key, schedule, origin, created_by, created_at, deadline, estimated_s, attempts,
       max_attempts, holder, token, run_id, lease_ends, claimed_at, started_at, finished_at, progress, progress_at, waiting_for,
       split_at, visited, result, error, failed_by, traceparent, digest
