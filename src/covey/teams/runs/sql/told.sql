-- The operator was told that a run does not get on.
UPDATE team_runs SET told_at = :now, why = :why WHERE id = :id
