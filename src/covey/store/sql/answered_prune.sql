-- Delete answers past their time, a batch at a time.
DELETE FROM answered_requests WHERE (caller, key) IN (SELECT caller, key FROM answered_requests WHERE at < :before ORDER BY at LIMIT :limit)
