-- Whether a message bears this id.
SELECT 1 AS found FROM messages WHERE id = :id
