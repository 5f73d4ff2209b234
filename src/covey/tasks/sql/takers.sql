-- Who takes work from a queue.
SELECT agent FROM agent_queues WHERE queue = :queue LIMIT 32
