-- A new incident, unless one of this agent, kind and subject is open.
INSERT INTO incidents (id, agent, kind, subject, cause, data, opened_at) VALUES (:id, :agent, :kind, :subject, :cause, :data, :now)
ON CONFLICT (agent, kind, subject) WHERE ended_at IS NULL DO NOTHING RETURNING id
