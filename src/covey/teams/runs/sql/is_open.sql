-- Whether a step of a run has not ended.
SELECT 1 AS found FROM team_steps WHERE run_id = :run_id AND state IN ('waiting', 'out') LIMIT 1
