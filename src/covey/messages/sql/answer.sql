-- A receiver has answered a message; nobody waits for it any more.
UPDATE copies SET answered_at = :now, answered_by = :reply_id, answer_due = NULL WHERE message_id = :message_id AND receiver = :receiver
