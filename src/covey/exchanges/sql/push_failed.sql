-- A place did not take its news: it is tried again later, or never.
UPDATE pushes SET attempts = attempts + 1, due_at = :due_at, ended_at = :ended_at WHERE task_id = :task_id AND id = :id
