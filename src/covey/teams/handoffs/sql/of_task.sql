-- What became of a task's offers, in order.
SELECT seq, id, task_id, giver, receiver, offered_by, state, package, path, returns, waited_for, awaits_run, offered_at, deadline, ended_at, ended_by, why
  FROM handoffs WHERE task_id = :task_id ORDER BY seq
