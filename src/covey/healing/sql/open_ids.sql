-- The ids of an agent's open incidents of a kind.
SELECT id FROM incidents WHERE agent = :agent AND kind = :kind AND ended_at IS NULL ORDER BY seq
