-- An entry leaves the live context; its text stays.
UPDATE entries SET archived_at = :now WHERE id = :id
