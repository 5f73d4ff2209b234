-- What a task is directly tied to: what it needs, what needs it, its parts, the task that it is a part of.
SELECT task_id AS later, needs_id AS earlier, 'needs' AS tie, met_at IS NOT NULL AS met FROM needs WHERE task_id = :id
UNION ALL
SELECT task_id AS later, needs_id AS earlier, 'needs' AS tie, met_at IS NOT NULL AS met FROM needs WHERE needs_id = :id
UNION ALL
SELECT parent_id AS later, id AS earlier, 'part' AS tie, state = 'done' AS met FROM tasks WHERE parent_id = :id
UNION ALL
SELECT parent_id AS later, id AS earlier, 'part' AS tie, state = 'done' AS met FROM tasks WHERE id = :id AND parent_id IS NOT NULL
LIMIT :limit
