-- How many tasks of a queue stand before one, counted up to a bound.
SELECT count(*) AS tasks
  FROM (SELECT seq FROM tasks WHERE queue = :queue AND state = 'queued' AND (not_urgent, sort_key, seq) < (:not_urgent, :sort_key, :seq) LIMIT :limit) t
