-- A task is another agent's until its own is back; whose it was first stays known.
INSERT INTO lent_tasks (task_id, owner, heir, attempts, at) VALUES (:task_id, :owner, :heir, :attempts, :now)
ON CONFLICT (task_id) DO UPDATE SET heir = excluded.heir, attempts = excluded.attempts
