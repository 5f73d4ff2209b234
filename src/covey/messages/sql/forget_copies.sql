-- The copies of a message go.
DELETE FROM copies WHERE message_id = :message_id
