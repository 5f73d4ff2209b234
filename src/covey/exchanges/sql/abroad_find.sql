-- The ids that another system's agent has for a piece of our work.
SELECT key, agent, url, task_id, context_id, at FROM abroad WHERE key = :key
