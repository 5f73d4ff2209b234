-- Deferred mail whose time has come.
SELECT sender, receiver FROM copies WHERE state = 'deferred' AND deliver_at <= :now ORDER BY deliver_at LIMIT :limit
