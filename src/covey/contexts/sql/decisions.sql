-- An agent's latest decisions, also those that are archived.
SELECT id, kind, text, source, tokens, at, form, packed FROM entries WHERE agent = :agent AND kind = 'decision' AND form = 'raw' ORDER BY at DESC, seq DESC LIMIT :limit
