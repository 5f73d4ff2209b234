-- When to look at a run again that has a step, or its plan, still to come.
UPDATE team_runs SET look_at = :look_at
 WHERE id = :id
   AND (state = 'planning' OR EXISTS (SELECT 1 FROM team_steps s WHERE s.run_id = team_runs.id AND s.state IN ('waiting', 'out')))
