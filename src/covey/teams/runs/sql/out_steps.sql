-- The steps of a run that are tasks of workers, with how each task stands, and what it came to if it has ended.
SELECT s.place, s.kind, s.description, s.capabilities, s.wanted, s.needs, s.state, s.worker, s.task_id, t.state AS task_state, t.agent, t.failed_by,
       t.holder, t.error, CASE WHEN t.state = 'done' THEN t.result END AS result
  FROM team_steps s LEFT JOIN tasks t ON t.id = s.task_id
 WHERE s.run_id = :run_id AND s.state = 'out' ORDER BY s.place
