-- The figures of one stretch of time.
SELECT tally FROM figures WHERE agent = :agent AND span_s = :span_s AND at = :at
