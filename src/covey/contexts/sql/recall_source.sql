-- What an agent remembers of a message or task, live or archived, oldest first.
SELECT e.seq, e.id, e.kind, e.text, e.source, e.tokens, e.at, e.form, e.packed, e.archived_at, e.shown_in FROM entries e WHERE e.agent = :agent AND e.source = :source AND e.form = 'raw' ORDER BY e.seq LIMIT :limit
