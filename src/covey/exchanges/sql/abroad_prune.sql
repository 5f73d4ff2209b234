-- Forget the oldest of what was abroad long ago.
DELETE FROM abroad WHERE key IN (SELECT key FROM abroad WHERE at < :before ORDER BY at LIMIT :limit)
