-- Why a run does not get on.
UPDATE team_runs SET why = :why WHERE id = :id
