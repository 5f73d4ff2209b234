-- An agent's context has a record from now on.
INSERT INTO contexts (agent) VALUES (:agent) ON CONFLICT (agent) DO NOTHING
