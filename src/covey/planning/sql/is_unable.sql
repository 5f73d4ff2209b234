-- An agent's brain says that it can't do this.
INSERT INTO unable (agent, template) VALUES (:agent, :template) ON CONFLICT (agent, template) DO NOTHING
