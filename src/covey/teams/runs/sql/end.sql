-- A run has ended.
UPDATE team_runs SET state = :state, quality = :quality, summary = :summary, why = :why, ended_at = :now WHERE id = :id AND ended_at IS NULL
