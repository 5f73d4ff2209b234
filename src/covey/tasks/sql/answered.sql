-- Blocked tasks whose wait for an answer ended a while ago.
SELECT t.id, t.waiting_for FROM tasks t
 WHERE t.waiting_for IS NOT NULL AND t.state = 'blocked'
   AND NOT EXISTS (SELECT 1 FROM copies c
                    WHERE c.message_id = t.waiting_for AND (c.answer_due IS NOT NULL OR coalesce(c.answered_at, c.gave_up_at, 0) > :before))
   AND NOT EXISTS (SELECT 1 FROM handoffs h WHERE h.id = t.waiting_for AND (h.state = 'offered' OR h.awaits_run IS NOT NULL))
 LIMIT :limit
