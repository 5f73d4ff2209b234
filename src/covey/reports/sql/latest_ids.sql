-- The ids of the newest tasks and messages.
SELECT id FROM (SELECT id FROM tasks ORDER BY seq DESC LIMIT :limit) t
UNION ALL
SELECT id FROM (SELECT id FROM messages ORDER BY seq DESC LIMIT :limit) m
