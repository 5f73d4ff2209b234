-- An agent's entries since a time.
SELECT id, kind, text, source, tokens, at FROM entries WHERE agent = :agent AND at >= :at ORDER BY at, seq LIMIT :limit
