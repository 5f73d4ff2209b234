-- Tasks that have not ended, newest first, of one state or one agent: where they are few, they are found by their own index and then sorted.
SELECT seq, id, description, data, state, queue, agent, capability, priority, not_urgent, sort_key, not_before, blockers, approval,
       anyway, parent_id, project_id, dedupe_key, schedule, origin, created_by, created_at, deadline, estimated_s, attempts,
       max_attempts, holder, token, run_id, lease_ends, claimed_at, started_at, finished_at, progress, progress_at, waiting_for,
       split_at, visited, result, error, failed_by, traceparent, digest
  FROM tasks
 WHERE state IN ('queued', 'blocked', 'running') AND +seq < :before
   AND (:state = 'open' OR state = :state)
   AND (:agent = '' OR agent = :agent OR holder = :agent)
 ORDER BY +seq DESC LIMIT :limit
