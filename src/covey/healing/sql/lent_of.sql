-- What others have of an agent.
SELECT task_id, heir, attempts FROM lent_tasks WHERE owner = :owner ORDER BY task_id
