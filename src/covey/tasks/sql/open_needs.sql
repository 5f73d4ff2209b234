-- What a task still waits for.
SELECT t.seq, t.id, t.description, t.data, t.state, t.queue, t.agent, t.capability, t.priority, t.not_urgent, t.sort_key, t.not_before,
       t.blockers, t.approval, t.anyway, t.parent_id, t.project_id, t.dedupe_key, t.schedule, t.origin, t.created_by, t.created_at,
       t.deadline, t.estimated_s, t.attempts, t.max_attempts, t.holder, t.token, t.run_id, t.lease_ends, t.claimed_at, t.started_at,
       t.finished_at, t.progress, t.progress_at, t.waiting_for, t.split_at, t.visited, t.result, t.error, t.failed_by, t.traceparent,
       t.digest
  FROM needs n JOIN tasks t ON t.id = n.needs_id WHERE n.task_id = :task_id AND n.met_at IS NULL ORDER BY t.seq
