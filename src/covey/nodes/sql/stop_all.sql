-- No node runs.
UPDATE nodes SET stopped_at = :now WHERE stopped_at IS NULL
