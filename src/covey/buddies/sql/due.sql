-- An agent and the one it watches, with what says when it is to look after it and where.
SELECT a.id AS checker, a.created_at, v.last_buddy_check, b.id AS checked, b.host, b.port, b.brain
  FROM agents a JOIN vitals v ON v.agent = a.id JOIN agents b ON b.id = a.buddy AND b.removed_at IS NULL
 WHERE a.id = :checker AND a.removed_at IS NULL
