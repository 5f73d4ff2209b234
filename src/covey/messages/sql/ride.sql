-- Lease the quiet mail that goes with a turn.
UPDATE copies
   SET state = 'seen', token = :token, run_id = :run_id, lease_ends = :lease_ends, attempts = attempts + 1, seen_at = coalesce(seen_at, :now)
 WHERE seq IN (SELECT seq FROM copies
                WHERE receiver = :receiver AND wakes = 0 AND state = 'delivered' AND not_before <= :now AND (expires_at IS NULL OR expires_at > :now)
                ORDER BY not_urgent, sort_key, seq LIMIT :limit /*postgres: FOR UPDATE SKIP LOCKED*/)
   AND state = 'delivered'
