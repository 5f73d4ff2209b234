-- The agents whose context was large when they last handled something.
SELECT c.agent FROM checkpoints c JOIN agents a ON a.id = c.agent WHERE c.size > :least AND a.removed_at IS NULL ORDER BY c.agent LIMIT :limit
