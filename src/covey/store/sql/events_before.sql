-- Events before a bookmark, the latest first; on PostgreSQL only those that no running transaction can still precede.
SELECT xid, seq, at, kind, agent, subject, data FROM events
 WHERE /*sqlite*/seq < :seq AND :xid >= 0/*end*/ /*postgres: (xid, seq) < (:xid, :seq) AND xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint*/
 ORDER BY /*sqlite*/seq DESC/*end*/ /*postgres: xid DESC, seq DESC*/ LIMIT :limit
