-- What went out of sight last, the newest first.
SELECT id, kind, text, source, tokens, at, form, packed FROM entries WHERE shown_in = :shown_in ORDER BY seq DESC LIMIT :limit
