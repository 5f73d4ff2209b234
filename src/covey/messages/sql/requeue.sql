-- Dead copies of a message wait again.
UPDATE copies SET state = 'delivered', attempts = 0, not_before = :now, ended_at = NULL
 WHERE message_id = :message_id AND state = 'dead' RETURNING receiver
