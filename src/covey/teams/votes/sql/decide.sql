-- It is a tie, and one agent is asked to decide it.
UPDATE votes SET state = 'deciding', decider = :decider, choices = :choices, deadline = :due_at, due_at = :due_at
 WHERE id = :id AND state = 'open'
