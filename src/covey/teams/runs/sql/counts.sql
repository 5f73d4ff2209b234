-- How many steps a run has, and how many of them are done.
SELECT count(*) AS total, count(CASE WHEN state = 'done' THEN 1 END) AS done FROM team_steps WHERE run_id = :run_id
