-- Forget where news of an exchange was pushed to.
DELETE FROM pushes WHERE task_id = :task_id
