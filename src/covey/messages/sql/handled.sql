-- Close the mail under a token.
UPDATE copies SET state = 'handled', handled_at = :now, token = NULL, lease_ends = NULL
 WHERE token = :token AND state = 'seen' RETURNING message_id, delivered_at
