-- Forget an exchange.
DELETE FROM exchanges WHERE task_id = :task_id
