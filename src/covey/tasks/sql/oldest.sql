-- The oldest tasks, with what keeps each: it is open or ended lately, or open tasks need it (a whole needs its parts).
SELECT t.seq, t.id, t.created_at,
       CASE WHEN t.finished_at IS NULL OR t.finished_at >= :before THEN 1 ELSE 0 END
       + (SELECT count(*) FROM needs n JOIN tasks d ON d.id = n.task_id WHERE n.needs_id = t.id AND d.finished_at IS NULL) AS kept
  FROM tasks t WHERE t.seq > :after ORDER BY t.seq LIMIT :limit
