-- Who said of a task that it can't do it.
SELECT refused_by FROM tasks WHERE id = :id
