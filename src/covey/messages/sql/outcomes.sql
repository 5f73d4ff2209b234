-- Where each copy of a message stands.
SELECT receiver, state FROM copies WHERE message_id = :id ORDER BY seq
