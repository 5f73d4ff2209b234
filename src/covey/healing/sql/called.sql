-- A person is called, once.
UPDATE incidents SET called_at = :now WHERE id = :id AND called_at IS NULL
