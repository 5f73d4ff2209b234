-- A leased copy is given up, and with it the wait for its answer.
UPDATE copies
   SET state = 'dead', token = NULL, lease_ends = NULL, ended_at = :now, reason = :reason,
       gave_up_at = CASE WHEN answer_due IS NULL THEN gave_up_at ELSE :now END, answer_due = NULL
 WHERE seq = :seq AND token = :token AND state = 'seen'
