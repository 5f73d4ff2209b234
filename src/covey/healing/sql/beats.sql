-- Who should answer on its port, whether its heart beats, and where it lives.
SELECT a.id, a.host, a.port, a.place, v.node, v.pid, v.started_at, v.heartbeat_at FROM agents a JOIN vitals v ON v.agent = a.id
 WHERE a.removed_at IS NULL AND a.failed_at IS NULL AND a.brain <> 'external' AND v.pid IS NOT NULL
   AND (v.heartbeat_at <= :fresh_after OR (a.place >= :low AND a.place < :high))
 ORDER BY a.place
