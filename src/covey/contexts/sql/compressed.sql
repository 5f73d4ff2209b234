-- A context was compressed.
UPDATE contexts SET version = version + 1, compressed_to = :size, compressed_at = :now, cold_entries = cold_entries + :cold,
       cold_since = coalesce(cold_since, :since) WHERE agent = :agent
