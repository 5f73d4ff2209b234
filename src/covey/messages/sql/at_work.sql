-- What an agent's brain has in hand: who sent it, and whom it has passed through.
SELECT m.sender, m.visited FROM copies c JOIN messages m ON m.id = c.message_id WHERE c.receiver = :agent AND c.state = 'seen'
UNION ALL
SELECT created_by AS sender, visited FROM tasks WHERE holder = :agent AND state = 'running'
