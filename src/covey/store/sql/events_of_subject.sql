-- What happened to one thing, the latest first.
SELECT xid, seq, at, kind, agent, subject, data FROM events WHERE subject = :subject ORDER BY seq DESC LIMIT :limit
