-- A copy is past its time; nobody waits for its answer.
UPDATE copies SET state = 'expired', ended_at = :now, answer_due = NULL, reason = 'not handled before expiresAt' WHERE seq = :seq
