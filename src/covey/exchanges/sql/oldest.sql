-- The oldest exchanges, with whether their tasks are kept.
SELECT x.seq, x.task_id, x.created_at, EXISTS (SELECT 1 FROM tasks t WHERE t.id = x.task_id) AS kept
  FROM exchanges x WHERE x.seq > :after ORDER BY x.seq LIMIT :limit
