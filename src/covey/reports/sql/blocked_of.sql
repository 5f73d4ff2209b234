-- What is blocked in an agent's own queue, in the order it was made.
SELECT t.id, substr(t.description, 1, 2000) AS description, t.priority, t.created_by, t.created_at, t.state,
       (SELECT /*sqlite*/group_concat(n.needs_id, ' ')/*end*//*postgres:string_agg(n.needs_id, ' ')*/ FROM needs n WHERE n.task_id = t.id) AS needs
  FROM tasks t WHERE t.agent = :agent AND t.state = 'blocked' ORDER BY t.seq LIMIT :limit
