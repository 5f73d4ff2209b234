-- Forget which messages belong to an exchange.
DELETE FROM exchange_messages WHERE task_id = :task_id
