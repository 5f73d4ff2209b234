-- A task goes.
DELETE FROM tasks WHERE seq = :seq
