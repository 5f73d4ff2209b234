-- How much mail that wakes stands before one message, counted up to a bound.
SELECT count(*) AS messages
  FROM (SELECT seq FROM copies WHERE receiver = :receiver AND wakes = 1 AND state = 'delivered'
           AND (not_urgent, sort_key, seq) < (:not_urgent, :sort_key, :seq) LIMIT :limit) c
