-- Tasks handed over whose giver's run is known to have ended.
SELECT h.id, h.task_id FROM handoffs h LEFT JOIN runs r ON r.id = h.awaits_run
 WHERE h.awaits_run IS NOT NULL AND (r.id IS NULL OR r.ended_at IS NOT NULL) LIMIT :limit
