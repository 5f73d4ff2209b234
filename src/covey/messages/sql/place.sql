-- The place of a copy's message.
SELECT m.seq FROM copies c JOIN messages m ON m.id = c.message_id WHERE c.seq = :copy
