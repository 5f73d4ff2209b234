-- An agent's latest decisions.
SELECT text FROM entries WHERE agent = :agent AND kind = 'decision' AND archived_at IS NULL ORDER BY at DESC, seq DESC LIMIT :limit
