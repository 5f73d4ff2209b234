-- What happened to one thing after a bookmark, in order; on PostgreSQL only what no running transaction can still precede.
SELECT xid, seq, at, kind, agent, subject, data FROM events
 WHERE subject = :subject AND /*sqlite*/seq > :seq AND :xid >= 0/*end*/ /*postgres: (xid, seq) > (:xid, :seq) AND xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint*/
 ORDER BY /*sqlite*/seq/*end*/ /*postgres: xid, seq*/ LIMIT :limit
