-- Runs that ended long ago go, a batch at a time.
DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL AND ended_at < :before ORDER BY ended_at LIMIT :limit)
