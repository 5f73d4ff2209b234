-- What was done about an incident.
INSERT INTO incident_steps (incident_id, at, action, sentence) VALUES (:incident_id, :now, :action, :sentence)
