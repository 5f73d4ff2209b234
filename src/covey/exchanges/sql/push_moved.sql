-- A place has got the news up to here.
UPDATE pushes SET xid = :xid, seq = :seq, attempts = 0, due_at = :now, ended_at = :ended_at WHERE task_id = :task_id AND id = :id
