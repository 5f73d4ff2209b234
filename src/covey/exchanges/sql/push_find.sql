-- One place that news of a task is pushed to.
SELECT task_id, id, url, token, scheme, credentials, version, created_at, xid, seq, attempts, due_at, ended_at
  FROM pushes WHERE task_id = :task_id AND id = :id
