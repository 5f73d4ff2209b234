-- The mail under a token waits again as if it had not been claimed.
UPDATE copies SET state = 'delivered', token = NULL, run_id = NULL, lease_ends = NULL, attempts = attempts - 1
 WHERE token = :token AND state = 'seen' RETURNING message_id, receiver
