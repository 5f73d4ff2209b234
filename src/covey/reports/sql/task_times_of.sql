-- How long the tasks took that one agent finished last.
SELECT e.agent, t.finished_at - t.claimed_at AS seconds
  FROM (SELECT kind, subject, agent FROM events WHERE agent = :agent ORDER BY seq DESC LIMIT :limit) e
  JOIN tasks t ON t.id = e.subject
 WHERE e.kind = 'task.done' AND t.state = 'done' AND t.claimed_at IS NOT NULL
