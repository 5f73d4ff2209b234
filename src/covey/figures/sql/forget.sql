-- Figures of stretches that began too long ago go, a batch at a time.
DELETE FROM figures WHERE (agent, span_s, at) IN
       (SELECT agent, span_s, at FROM figures WHERE span_s = :span_s AND at < :before ORDER BY at LIMIT :limit)
