-- Tasks that wait for the answer to a message.
SELECT id FROM tasks WHERE waiting_for = :message_id AND state = 'blocked'
