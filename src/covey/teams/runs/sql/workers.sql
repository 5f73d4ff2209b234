-- The workers of a run as they stand: what they are capable of, whether they take work, how much they have and have done.
SELECT a.id, a.place, a.brain, a.capabilities, a.paused_at, a.stopped_at, a.failed_at, v.pid, v.heartbeat_at, v.seen_at,
       CAST(coalesce(a.settings/*postgres:::jsonb*/ ->> 'cadence_s', '3600') AS REAL) AS cadence_s,
       v.tasks_completed, v.task_seconds, b.until, b.reason,
       (SELECT count(*) FROM tasks t WHERE t.agent = a.id AND t.state IN ('queued', 'blocked', 'running')) AS tasks
  FROM /*sqlite*/json_each(:names) n/*end*/ /*postgres: jsonb_array_elements_text(:names::jsonb) AS n (value)*/
  JOIN agents a ON a.id = n.value JOIN vitals v ON v.agent = a.id LEFT JOIN breakers b ON b.agent = a.id
 WHERE a.removed_at IS NULL
 ORDER BY a.place
