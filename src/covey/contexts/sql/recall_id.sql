-- An entry by its id, live or archived.
SELECT e.seq, e.id, e.kind, e.text, e.source, e.tokens, e.at, e.form, e.packed, e.archived_at, e.shown_in FROM entries e WHERE e.agent = :agent AND e.id = :id
