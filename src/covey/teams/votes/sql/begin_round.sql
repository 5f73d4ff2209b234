-- The next round, with what may be chosen in it.
UPDATE votes SET round = :round, last_round = :last_round, counted_from = :counted_from, choices = :choices, deadline = :deadline,
                 due_at = :due_at
 WHERE id = :id AND state = 'open'
