-- The latest messages of an exchange, the latest first.
SELECT message_id FROM exchange_messages WHERE task_id = :task_id ORDER BY seq DESC LIMIT :limit
