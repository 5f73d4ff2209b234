-- A wait is given up.
UPDATE copies SET answer_due = NULL, gave_up_at = :now WHERE message_id = :message_id AND receiver = :receiver
