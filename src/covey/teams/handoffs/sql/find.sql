-- One handoff.
SELECT seq, id, task_id, giver, receiver, offered_by, state, package, path, returns, waited_for, awaits_run, offered_at, deadline, ended_at, ended_by, why
  FROM handoffs WHERE id = :id
