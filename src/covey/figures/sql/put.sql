-- The figures of one stretch of time, in the place of those there are.
INSERT INTO figures (agent, span_s, at, tally) VALUES (:agent, :span_s, :at, :tally)
ON CONFLICT (agent, span_s, at) DO UPDATE SET tally = excluded.tally
