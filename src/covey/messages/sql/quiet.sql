-- Whether quiet mail waits.
SELECT seq FROM copies WHERE receiver = :receiver AND wakes = 0 AND state = 'delivered' AND not_before <= :now LIMIT 1
