-- The figures of an agent, or of the fleet, since a time, the oldest first.
SELECT at, tally FROM figures WHERE agent = :agent AND span_s = :span_s AND at >= :since ORDER BY at
