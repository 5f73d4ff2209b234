-- Delete the oldest events, of one batch those that are old enough.
DELETE FROM events WHERE at < :before AND seq IN (SELECT seq FROM events ORDER BY seq LIMIT :limit) RETURNING xid, seq
