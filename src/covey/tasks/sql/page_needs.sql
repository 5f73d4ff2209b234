-- What some tasks that follow one another need.
SELECT n.task_id, n.needs_id FROM tasks t JOIN needs n ON n.task_id = t.id WHERE t.seq > :after AND t.seq <= :last ORDER BY t.seq, n.needs_id
