-- What ran too long, and is at work with that agent no more.
SELECT i.id, i.agent, i.subject, t.state FROM incidents i LEFT JOIN tasks t ON t.id = i.subject
 WHERE i.ended_at IS NULL AND i.kind = 'task_timeout' AND (t.id IS NULL OR t.state <> 'running' OR t.holder <> i.agent) ORDER BY i.seq
