-- The open offer of a task, and how it was handed over if its giver's run has still to end.
SELECT h.id, h.giver, h.receiver, h.state, h.offered_at, h.deadline, h.awaits_run, r.agent AS runner
  FROM handoffs h LEFT JOIN runs r ON r.id = h.awaits_run
 WHERE h.task_id = :task_id AND (h.state = 'offered' OR h.awaits_run IS NOT NULL)
 ORDER BY h.seq
