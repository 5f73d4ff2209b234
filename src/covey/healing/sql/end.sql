-- An incident is over.
UPDATE incidents SET ended_at = :now, outcome = :outcome WHERE id = :id AND ended_at IS NULL RETURNING agent, kind, opened_at
