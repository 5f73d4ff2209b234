-- The last event that readers may see.
SELECT xid, seq FROM events /*postgres: WHERE xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint*/
 ORDER BY /*sqlite*/seq/*end*/ /*postgres: xid DESC, seq*/ DESC LIMIT 1
