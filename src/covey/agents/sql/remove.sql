-- The agent leaves the fleet; its history stays.
UPDATE agents SET removed_at = :now WHERE id = :id AND removed_at IS NULL
