-- Add an agent or change what it is; its flags stay, a removed one comes back.
INSERT INTO agents (id, place, role, host, port, buddy, owner, organisation, brain, capabilities, settings, created_at)
VALUES (:id, :place, :role, :host, :port, :buddy, :owner, :organisation, :brain, :capabilities, :settings, :now)
ON CONFLICT (id) DO UPDATE SET
  place = excluded.place, role = excluded.role, host = excluded.host, port = excluded.port, buddy = excluded.buddy, owner = excluded.owner,
  organisation = excluded.organisation, brain = excluded.brain, capabilities = excluded.capabilities, settings = excluded.settings, removed_at = NULL
