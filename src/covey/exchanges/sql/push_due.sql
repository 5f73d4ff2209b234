-- Places for which there is news, each with its exchange.
SELECT p.task_id, p.id, p.url, p.token, p.scheme, p.credentials, p.version, p.created_at, p.xid, p.seq, p.attempts, p.due_at, p.ended_at
  FROM pushes p
 WHERE p.ended_at IS NULL AND p.due_at <= :now
   AND EXISTS (SELECT 1 FROM events e WHERE e.subject = p.task_id AND /*sqlite*/e.seq > p.seq/*end*/ /*postgres: (e.xid, e.seq) > (p.xid, p.seq) AND e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint*/)
 ORDER BY p.due_at LIMIT :limit
