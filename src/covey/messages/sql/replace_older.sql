-- Unread mail of a sender in a thread that a newer message stands for.
UPDATE copies SET state = 'expired', ended_at = :now, reason = :reason
 WHERE receiver = :receiver AND sender = :sender AND state = 'delivered' AND message_id <> :newer AND answer_due IS NULL
   AND message_id IN (SELECT id FROM messages WHERE thread_id = :thread_id)
RETURNING message_id
