-- Whether an answer to a message is still waited for.
SELECT 1 AS found FROM copies WHERE message_id = :message_id AND answer_due IS NOT NULL LIMIT 1
