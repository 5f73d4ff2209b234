-- The mail under a token waits again as if it had not been claimed.
UPDATE copies
   SET state = 'delivered', token = NULL, run_id = NULL, lease_ends = NULL, attempts = attempts - 1,
       seen_at = CASE WHEN attempts <= 1 THEN NULL ELSE seen_at END
 WHERE token = :token AND state = 'seen' RETURNING message_id, receiver
