-- How agents stand as those who may be given work, of these names or of a queue: what bars them, what they can be asked, have and have done.
SELECT a.id, a.place, a.brain, a.capabilities, a.paused_at, a.stopped_at, a.flag_reason, a.failed_at, a.failed_reason,
       v.pid, v.heartbeat_at, v.seen_at, v.tasks_completed, v.task_seconds, b.until, b.reason,
       CASE WHEN a.brain = 'external' THEN CAST(coalesce(a.settings/*postgres:::jsonb*/ ->> 'cadence_s', '3600') AS REAL) END AS cadence_s,
       (SELECT count(*) FROM tasks t WHERE t.agent = a.id AND t.state IN ('queued', 'blocked', 'running')) AS tasks
  FROM (SELECT value AS name FROM /*sqlite*/json_each(:names)/*end*/ /*postgres: jsonb_array_elements_text(:names::jsonb) AS j (value)*/
        UNION ALL SELECT agent FROM agent_queues WHERE queue = :queue) n
  JOIN agents a ON a.id = n.name JOIN vitals v ON v.agent = a.id LEFT JOIN breakers b ON b.agent = a.id
 WHERE a.removed_at IS NULL
 ORDER BY a.place
