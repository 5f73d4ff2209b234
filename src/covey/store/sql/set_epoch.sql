-- A restored store begins a new epoch.
INSERT INTO facts (name, value) VALUES ('epoch', :epoch) ON CONFLICT (name) DO UPDATE SET value = excluded.value
