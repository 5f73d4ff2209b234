-- The steps of a run go.
DELETE FROM team_steps WHERE run_id = :run_id
