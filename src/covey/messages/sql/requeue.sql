-- Dead copies of a message wait again: one receiver's, or all.
UPDATE copies SET state = 'delivered', attempts = 0, not_before = :now, ended_at = NULL
 WHERE message_id = :message_id AND state = 'dead' AND (:receiver = '' OR receiver = :receiver) RETURNING receiver
