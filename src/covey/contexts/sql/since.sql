-- An agent's entries since a time as they were said, none that was made of others.
SELECT id, kind, text, source, tokens, at, form, packed FROM entries WHERE agent = :agent AND at >= :at AND form = 'raw' ORDER BY at, seq LIMIT :limit
