-- Handoffs that ended long ago go.
DELETE FROM handoffs WHERE seq IN (SELECT seq FROM handoffs WHERE ended_at IS NOT NULL AND ended_at < :before AND awaits_run IS NULL
                                    ORDER BY ended_at LIMIT :limit)
