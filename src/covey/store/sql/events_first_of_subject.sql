-- The first thing that happened to one thing.
SELECT xid, seq, at, kind, agent, subject, data FROM events WHERE subject = :subject ORDER BY seq LIMIT 1
