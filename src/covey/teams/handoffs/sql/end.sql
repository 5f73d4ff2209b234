-- An offer is answered, or lapses.
UPDATE handoffs SET state = :state, ended_at = :now, ended_by = :by, why = :why, awaits_run = :awaits_run WHERE id = :id AND state = 'offered'
