-- What runs cost that ended since a time, as far as they said so.
SELECT coalesce(sum(cost_usd), 0) AS usd, min(ended_at) AS first FROM runs WHERE cost_usd IS NOT NULL AND ended_at > :since
