-- Offers whose time is over.
SELECT id, task_id FROM handoffs WHERE state = 'offered' AND deadline <= :now ORDER BY deadline LIMIT :limit
