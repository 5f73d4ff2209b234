-- The votes whose round is over by time.
SELECT id FROM votes WHERE state <> 'closed' AND due_at <= :now ORDER BY due_at LIMIT :limit
