-- Whether a task of an agent changed since then, by its last 500 events.
SELECT 1 AS found
  FROM (SELECT at, kind FROM events WHERE agent = :agent ORDER BY seq DESC LIMIT 500) e
 WHERE e.at >= :since AND e.kind LIKE 'task.%' AND e.kind <> 'task.refused' LIMIT 1
