-- What is to be found of a message.
SELECT seq, subject, body FROM messages WHERE id = :id
