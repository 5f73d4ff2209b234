-- Urgent mail was shown to whoever covers its receiver.
INSERT INTO covered_mail (agent, message_id, shown_to) VALUES (:agent, :message_id, :shown_to) ON CONFLICT DO NOTHING
