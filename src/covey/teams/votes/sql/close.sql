-- It is over.
UPDATE votes SET state = 'closed', closed_at = :now, closed_by = :by, result = :result WHERE id = :id AND state <> 'closed'
