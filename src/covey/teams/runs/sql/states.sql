-- How the steps of a run stand.
SELECT place, state FROM team_steps WHERE run_id = :run_id ORDER BY place
