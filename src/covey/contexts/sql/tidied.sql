-- A context was looked through for what has grown old.
UPDATE contexts SET tidied_at = :now WHERE agent = :agent
