-- Offers of tasks that have ended, or that are no longer their giver's.
SELECT h.id, h.task_id FROM handoffs h LEFT JOIN tasks t ON t.id = h.task_id
 WHERE h.state = 'offered'
   AND (t.id IS NULL OR t.finished_at IS NOT NULL OR coalesce(CASE WHEN t.state = 'running' THEN t.holder ELSE t.agent END, '') <> h.giver)
 LIMIT :limit
