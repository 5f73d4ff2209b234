-- Places for which there is news: of each giver those that have waited longest, so many at most.
SELECT task_id, id, url, token, scheme, credentials, version, created_at, xid, seq, attempts, due_at, ended_at, caller
  FROM (SELECT p.task_id, p.id, p.url, p.token, p.scheme, p.credentials, p.version, p.created_at, p.xid, p.seq, p.attempts, p.due_at,
               p.ended_at, x.caller, ROW_NUMBER() OVER (PARTITION BY x.caller ORDER BY p.due_at) AS place
          FROM pushes p JOIN exchanges x ON x.task_id = p.task_id
         WHERE p.ended_at IS NULL AND p.due_at <= :now
           AND EXISTS (SELECT 1 FROM events e WHERE e.subject = p.task_id AND /*sqlite*/e.seq > p.seq/*end*/ /*postgres: (e.xid, e.seq) > (p.xid, p.seq) AND e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint*/)
       ) AS waiting
 WHERE place <= :each
 ORDER BY due_at LIMIT :limit
