-- Tasks that brains are at, newest first, of one agent or all; never many.
SELECT seq, id, description, data, state, queue, agent, capability, priority, not_urgent, sort_key, not_before, blockers, approval,
       anyway, parent_id, project_id, dedupe_key, schedule, origin, created_by, created_at, deadline, estimated_s, attempts,
       max_attempts, holder, token, run_id, lease_ends, claimed_at, started_at, finished_at, progress, progress_at, waiting_for,
       split_at, visited, result, error, failed_by, traceparent, digest
  FROM tasks
 WHERE state = 'running' AND +seq < :before AND (:agent = '' OR agent = :agent OR holder = :agent)
 ORDER BY +seq DESC LIMIT :limit
