-- Leases on mail that have ended.
SELECT token, run_id, receiver FROM copies WHERE state = 'seen' AND lease_ends <= :now ORDER BY lease_ends LIMIT :limit
