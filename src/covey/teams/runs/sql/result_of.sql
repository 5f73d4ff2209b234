-- What one step of a run came to.
SELECT s.place, s.worker, s.task_id, t.result
  FROM team_steps s JOIN tasks t ON t.id = s.task_id WHERE s.run_id = :run_id AND s.place = :place AND s.state = 'done'
