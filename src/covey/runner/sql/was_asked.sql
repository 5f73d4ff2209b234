-- Whether a message went to this receiver.
SELECT 1 AS found FROM copies WHERE message_id = :id AND receiver = :receiver
