-- The mail that somebody holds, what ends first before the rest.
SELECT message_id, receiver, run_id, attempts, seen_at, lease_ends FROM copies WHERE state = 'seen' ORDER BY lease_ends LIMIT :limit
