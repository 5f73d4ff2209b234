-- The runs that cost something since a time, the oldest first.
SELECT ended_at, cost_usd FROM runs WHERE cost_usd IS NOT NULL AND ended_at > :since ORDER BY ended_at LIMIT :limit
