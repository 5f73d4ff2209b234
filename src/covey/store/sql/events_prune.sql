-- Delete the oldest events, a batch at a time.
DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE at < :before ORDER BY seq LIMIT :limit)
