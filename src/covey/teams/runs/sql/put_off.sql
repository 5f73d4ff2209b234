-- A run that can't go on is looked at again later, and says why it can't.
UPDATE team_runs SET look_at = :look_at, why = :why WHERE id = :id
