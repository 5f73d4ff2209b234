-- An agent takes work from this queue.
INSERT INTO agent_queues (agent, queue) VALUES (:agent, :queue) ON CONFLICT DO NOTHING
