-- Whether this receiver got the message.
SELECT answered_by FROM copies WHERE message_id = :message_id AND receiver = :receiver
