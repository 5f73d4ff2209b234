-- How each agent stands, as far as covering asks.
SELECT a.id, a.buddy, a.paused_at, a.stopped_at, a.failed_at, a.failed_reason, a.brain, v.started_at, v.heartbeat_at,
       (SELECT max(c.reason) FROM buddy_checks c WHERE c.checked = a.id AND c.unreachable = 1 AND c.missed_in_a_row >= 2) AS unreached
  FROM agents a JOIN vitals v ON v.agent = a.id WHERE a.removed_at IS NULL ORDER BY a.place
