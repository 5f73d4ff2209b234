-- When to look at a run again.
UPDATE team_runs SET look_at = :look_at WHERE id = :id
