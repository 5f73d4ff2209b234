-- Whether one receiver's answer to a message has come, or was given up.
SELECT answered_by, gave_up_at FROM copies WHERE message_id = :message_id AND receiver = :receiver
