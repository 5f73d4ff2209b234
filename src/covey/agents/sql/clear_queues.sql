-- An agent takes work from no queue.
DELETE FROM agent_queues WHERE agent = :agent
