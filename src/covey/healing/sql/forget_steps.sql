-- The steps of an incident go.
DELETE FROM incident_steps WHERE incident_id = :id
