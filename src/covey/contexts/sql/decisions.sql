-- An agent's latest decisions.
SELECT id, kind, text, source, tokens, at FROM entries WHERE agent = :agent AND kind = 'decision' AND archived_at IS NULL ORDER BY at DESC, seq DESC LIMIT :limit
