-- How many steps of a team run are in each state, and with whom.
SELECT state, worker, count(*) AS n FROM team_steps WHERE run_id = :id GROUP BY state, worker ORDER BY state, worker
