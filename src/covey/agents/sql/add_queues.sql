-- Agents take work from these queues.
INSERT INTO agent_queues (agent, queue)
SELECT q.value ->> 'agent', q.value ->> 'queue'
  FROM /*sqlite*/json_each(:queues) q/*end*/ /*postgres: jsonb_array_elements(:queues::jsonb) AS q (value)*/
 WHERE true
ON CONFLICT DO NOTHING
