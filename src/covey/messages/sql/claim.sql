-- Lease one copy.
UPDATE copies
   SET state = 'seen', token = :token, run_id = :run_id, lease_ends = :lease_ends, attempts = attempts + 1, seen_at = coalesce(seen_at, :now)
 WHERE seq = :seq AND state = 'delivered'
