-- One blocker less; the last one makes the task ready.
UPDATE tasks
   SET blockers = blockers - 1, state = CASE WHEN blockers <= 1 THEN 'queued' ELSE state END
 WHERE id = :id AND state = 'blocked'
RETURNING state, queue, agent
