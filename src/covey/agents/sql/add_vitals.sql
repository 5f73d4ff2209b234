-- An agent has vitals from its first day.
INSERT INTO vitals (agent) VALUES (:agent) ON CONFLICT (agent) DO NOTHING
