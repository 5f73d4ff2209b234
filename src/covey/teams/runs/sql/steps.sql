-- The steps of a run, with how the task of each stands, and how long its result is.
SELECT s.place, s.kind, s.description, s.capabilities, s.wanted, s.needs, s.state, s.worker, s.task_id, s.error,
       t.holder, t.agent, t.attempts, t.failed_by, t.claimed_at, t.finished_at, t.progress, t.error AS task_error,
       coalesce(length(t.result), 0) AS size
  FROM team_steps s LEFT JOIN tasks t ON t.id = s.task_id WHERE s.run_id = :run_id ORDER BY s.place
