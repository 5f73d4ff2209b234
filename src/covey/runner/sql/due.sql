-- Whether anything is due.
SELECT
  CASE WHEN EXISTS (SELECT 1 FROM copies WHERE answer_due IS NOT NULL AND answer_due <= :now)
         OR EXISTS (SELECT 1 FROM copies WHERE state = 'delivered' AND expires_at IS NOT NULL AND expires_at <= :now)
         OR EXISTS (SELECT 1 FROM copies WHERE state = 'deferred' AND deliver_at <= :now)
         OR EXISTS (SELECT 1 FROM copies WHERE state = 'deferred' AND expires_at IS NOT NULL AND expires_at <= :now)
         OR EXISTS (SELECT 1 FROM tasks WHERE state = 'running' AND started_at IS NULL AND claimed_at <= :not_started)
         OR EXISTS (SELECT 1 FROM tasks WHERE state IN ('queued', 'blocked') AND deadline IS NOT NULL AND deadline <= :now)
         OR EXISTS (SELECT 1 FROM tasks t
                     WHERE t.waiting_for IS NOT NULL AND t.state = 'blocked'
                       AND NOT EXISTS (SELECT 1 FROM copies c WHERE c.message_id = t.waiting_for
                                          AND (c.answer_due IS NOT NULL OR coalesce(c.answered_at, c.gave_up_at, 0) > :left_lying))
                       AND NOT EXISTS (SELECT 1 FROM handoffs h
                                        WHERE h.id = t.waiting_for AND (h.state = 'offered' OR h.awaits_run IS NOT NULL)))
         OR EXISTS (SELECT 1 FROM handoffs WHERE state = 'offered' AND deadline <= :now)
         OR EXISTS (SELECT 1 FROM handoffs h LEFT JOIN tasks t ON t.id = h.task_id
                     WHERE h.state = 'offered'
                       AND (t.id IS NULL OR t.finished_at IS NOT NULL
                            OR coalesce(CASE WHEN t.state = 'running' THEN t.holder ELSE t.agent END, '') <> h.giver))
         OR EXISTS (SELECT 1 FROM handoffs h LEFT JOIN runs r ON r.id = h.awaits_run
                     WHERE h.awaits_run IS NOT NULL AND (r.id IS NULL OR r.ended_at IS NOT NULL))
         OR EXISTS (SELECT 1 FROM entries WHERE archived_at IS NOT NULL AND indexed = 0)
         OR EXISTS (SELECT 1 FROM schedules WHERE removed_at IS NULL AND next_at <= :now)
         OR EXISTS (SELECT 1 FROM votes WHERE state <> 'closed' AND due_at <= :now)
         OR EXISTS (SELECT 1 FROM votes v JOIN voters w ON w.vote_id = v.id JOIN agents a ON a.id = w.voter
                     WHERE v.state = 'open' AND v.state <> 'closed' AND w.left_at IS NULL AND a.removed_at IS NOT NULL)
         OR EXISTS (SELECT 1 FROM team_runs WHERE ended_at IS NULL AND look_at <= :now)
         OR EXISTS (SELECT 1 FROM team_steps s JOIN tasks t ON t.id = s.task_id
                     WHERE s.state = 'out' AND t.state IN ('done', 'failed', 'cancelled'))
         OR EXISTS (SELECT 1 FROM events WHERE seq > coalesce((SELECT seq FROM bookmarks WHERE name = 'message_words'), 0))
       THEN 1 ELSE 0 END AS anything
