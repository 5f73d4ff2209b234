-- A copy that waits is another agent's from now on.
UPDATE copies SET receiver = :heir WHERE message_id = :message_id AND receiver = :leaver AND state = 'delivered'
