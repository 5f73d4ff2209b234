-- The open offer of a task.
SELECT seq, id, task_id, giver, receiver, offered_by, state, package, path, returns, waited_for, awaits_run, offered_at, deadline, ended_at, ended_by, why
  FROM handoffs WHERE task_id = :task_id AND state = 'offered'
