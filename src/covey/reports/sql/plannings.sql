-- What the last look at each idle agent came to.
SELECT agent, at, next_at, why, made FROM plannings ORDER BY agent
