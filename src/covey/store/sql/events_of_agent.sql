-- What happened to or by one agent, the latest first.
SELECT xid, seq, at, kind, agent, subject, data FROM events WHERE agent = :agent ORDER BY seq DESC LIMIT :limit
