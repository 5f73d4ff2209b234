-- A wait is given up, unless it has ended meanwhile.
UPDATE copies SET answer_due = NULL, gave_up_at = :now
 WHERE message_id = :message_id AND receiver = :receiver AND answer_due IS NOT NULL AND answer_due <= :now
