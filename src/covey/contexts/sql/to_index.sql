-- What was archived and can't be found by its words yet.
SELECT seq, id, agent, kind, text, source, tokens, at, form, packed FROM entries WHERE archived_at IS NOT NULL AND indexed = 0 ORDER BY seq LIMIT :limit
