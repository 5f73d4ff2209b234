-- Remember that a message belongs to an exchange.
INSERT INTO exchange_messages (task_id, message_id) VALUES (:task_id, :message_id)
