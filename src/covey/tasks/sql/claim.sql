-- Hand the best waiting task of an agent's queues to it: of all (`only` 0), of what planning did not make (1), of what a person asked for (2);
-- of urgent and high work alone if `pressing`. `started_at` is given where the brain starts with the claim. A person's schedule makes its
-- tasks as `operator` or `system`, an agent's in its own name.
UPDATE tasks
   SET state = 'running', holder = :agent, token = :token, run_id = :run_id, lease_ends = :lease_ends, attempts = attempts + 1,
       claimed_at = :now, started_at = :started_at, progress = NULL, progress_at = NULL
 WHERE state = 'queued' AND seq = (
   SELECT t.seq
     FROM agents a
     JOIN agent_queues q ON q.agent = a.id
     JOIN tasks t ON t.seq = (SELECT seq FROM tasks
                               WHERE queue = q.queue AND state = 'queued' AND not_before <= :now
                                 AND (refused_by IS NULL OR refused_by NOT LIKE :me)
                                 AND (:pressing = 0 OR priority IN ('urgent', 'high'))
                                 AND (:only = 0 OR created_by = 'operator' OR (schedule IS NOT NULL AND created_by = 'system') OR approval = 'approved'
                                   OR (:only = 1 AND (origin <> 'generated' OR schedule IS NOT NULL)
                                       AND (origin <> 'split' OR NOT EXISTS (SELECT 1 FROM tasks p WHERE p.id = tasks.parent_id
                                         AND p.origin = 'generated' AND p.schedule IS NULL)))
                                   OR (origin = 'split' AND EXISTS (SELECT 1 FROM tasks p WHERE p.id = tasks.parent_id
                                       AND (p.created_by = 'operator' OR (p.schedule IS NOT NULL AND p.created_by = 'system') OR p.approval = 'approved'))))
                               ORDER BY not_urgent, sort_key, seq LIMIT 1 /*postgres: FOR UPDATE SKIP LOCKED*/)
    WHERE a.id = :agent AND a.paused_at IS NULL AND a.stopped_at IS NULL AND a.removed_at IS NULL AND a.failed_at IS NULL
      AND (:through = 1 OR NOT EXISTS (SELECT 1 FROM breakers b WHERE b.agent = a.id AND b.until IS NOT NULL))
    ORDER BY t.not_urgent, t.sort_key, t.seq LIMIT 1)
RETURNING seq, id, description, data, state, queue, agent, capability, priority, not_urgent, sort_key, not_before, blockers, approval,
       anyway, parent_id, project_id, dedupe_key, schedule, origin, created_by, created_at, deadline, estimated_s, attempts,
       max_attempts, holder, token, run_id, lease_ends, claimed_at, started_at, finished_at, progress, progress_at, waiting_for,
       split_at, visited, result, error, failed_by, traceparent, digest
