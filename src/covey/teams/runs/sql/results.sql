-- What the steps of a run came to, up to a place; so many characters of each.
SELECT s.place, s.worker, s.task_id, substr(t.result, 1, CAST(:each AS integer)) AS result
  FROM team_steps s JOIN tasks t ON t.id = s.task_id
 WHERE s.run_id = :run_id AND s.place <= :last AND t.result IS NOT NULL ORDER BY s.place
