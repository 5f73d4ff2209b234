-- A receiver has answered a message, the first time; nobody waits for it any more.
UPDATE copies SET answered_at = :now, answered_by = :reply_id, answer_due = NULL
 WHERE message_id = :message_id AND receiver = :receiver AND answered_by IS NULL
RETURNING gave_up_at
