-- Say where news of a task is pushed to; the same id again stands for the one before.
INSERT INTO pushes (task_id, id, url, token, scheme, credentials, version, created_at, xid, seq, due_at)
VALUES (:task_id, :id, :url, :token, :scheme, :credentials, :version, :now, :xid, :seq, :now)
ON CONFLICT (task_id, id) DO UPDATE
   SET url = excluded.url, token = excluded.token, scheme = excluded.scheme, credentials = excluded.credentials, version = excluded.version,
       attempts = 0, due_at = excluded.due_at, ended_at = NULL
