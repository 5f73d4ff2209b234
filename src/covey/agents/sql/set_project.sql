-- Add a project or change it.
INSERT INTO projects (name, path, agents, created_at) VALUES (:name, :path, :agents, :now)
ON CONFLICT (name) DO UPDATE SET path = excluded.path, agents = excluded.agents
