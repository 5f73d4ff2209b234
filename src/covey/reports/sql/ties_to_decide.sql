-- Votes that somebody is to decide since they are tied.
SELECT id, topic, due_at FROM votes WHERE state <> 'closed' AND state = 'deciding' AND decider = :decider ORDER BY due_at LIMIT :limit
