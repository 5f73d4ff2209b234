-- Incidents that ended long ago, a batch at a time.
SELECT id FROM incidents WHERE ended_at IS NOT NULL AND ended_at < :before ORDER BY ended_at LIMIT :limit
