-- The turns that two agents take in a thread are counted from its last message on.
UPDATE messages SET turns = 0 WHERE seq = (SELECT max(seq) FROM messages WHERE thread_id = :thread_id)
