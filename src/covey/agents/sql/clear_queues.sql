-- Agents take work from no queue.
DELETE FROM agent_queues
 WHERE agent IN (SELECT a.value ->> 'id' FROM /*sqlite*/json_each(:agents) a/*end*/ /*postgres: jsonb_array_elements(:agents::jsonb) AS a (value)*/)
