-- The oldest event that is kept.
SELECT xid, seq FROM events ORDER BY /*sqlite*/seq/*end*/ /*postgres: xid, seq*/ LIMIT 1
