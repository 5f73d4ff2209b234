-- All places that news of a task is pushed to, in the order of their ids.
SELECT task_id, id, url, token, scheme, credentials, version, created_at, xid, seq, attempts, due_at, ended_at
  FROM pushes WHERE task_id = :task_id AND id > :after ORDER BY id LIMIT :limit
