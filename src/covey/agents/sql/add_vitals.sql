-- Agents have vitals from their first day.
INSERT INTO vitals (agent)
SELECT a.value ->> 'id' FROM /*sqlite*/json_each(:agents) a/*end*/ /*postgres: jsonb_array_elements(:agents::jsonb) AS a (value)*/
 WHERE true
ON CONFLICT (agent) DO NOTHING
