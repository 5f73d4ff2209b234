-- What was lent and has ended is nobody's to return.
DELETE FROM lent_tasks
 WHERE task_id IN (SELECT l.task_id FROM lent_tasks l LEFT JOIN tasks t ON t.id = l.task_id
                    WHERE t.id IS NULL OR t.state IN ('done', 'failed', 'cancelled') LIMIT :limit)
