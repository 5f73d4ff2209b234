-- One handoff, and where its offer's receiver stands.
SELECT h.id, h.task_id, h.giver, h.receiver, h.offered_by, h.state, h.offered_at, h.deadline, h.ended_at, h.ended_by, h.why, h.awaits_run,
       h.returns, a.paused_at, a.stopped_at
  FROM handoffs h LEFT JOIN agents a ON a.id = h.receiver
 WHERE h.id = :id
