-- A deferred copy is closed undelivered; nobody waits for its answer any more.
UPDATE copies
   SET state = 'expired', ended_at = :now, reason = :reason, gave_up_at = CASE WHEN answer_due IS NULL THEN gave_up_at ELSE :now END, answer_due = NULL
 WHERE seq = :seq AND state = 'deferred'
