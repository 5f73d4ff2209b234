-- Steps of a run that wait, from a place on.
SELECT place, kind, description, capabilities, wanted, needs, state, task_id
  FROM team_steps WHERE run_id = :run_id AND state = 'waiting' AND place > :after ORDER BY place LIMIT :limit
