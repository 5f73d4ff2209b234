-- The oldest tasks, with how much keeps each: it is open or ended lately, an open task needs it, its parent or a part of it is open.
SELECT t.seq, t.id, t.created_at,
       CASE WHEN t.finished_at IS NULL OR t.finished_at >= :before THEN 1 ELSE 0 END
       + (SELECT count(*) FROM needs n JOIN tasks d ON d.id = n.task_id WHERE n.needs_id = t.id AND d.finished_at IS NULL)
       + (SELECT count(*) FROM tasks p WHERE p.id = t.parent_id AND p.finished_at IS NULL)
       + (SELECT count(*) FROM tasks c WHERE c.parent_id = t.id AND c.finished_at IS NULL) AS open
  FROM tasks t WHERE t.seq > :after ORDER BY t.seq LIMIT :limit
