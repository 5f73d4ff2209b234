-- A leased copy is tried again later.
UPDATE copies SET state = 'delivered', token = NULL, run_id = NULL, lease_ends = NULL, not_before = :not_before, reason = :reason
 WHERE seq = :seq AND token = :token AND state = 'seen'
