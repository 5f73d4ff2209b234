-- When the wait for a receiver's answer was given up.
SELECT gave_up_at FROM copies WHERE message_id = :message_id AND receiver = :receiver
