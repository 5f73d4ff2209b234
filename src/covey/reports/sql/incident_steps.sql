-- What was done about an incident, in order.
SELECT at, action, sentence FROM incident_steps WHERE incident_id = :id ORDER BY seq
