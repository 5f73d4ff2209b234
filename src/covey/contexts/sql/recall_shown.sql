-- What a summary, or a line about the archive, stands for, in the order in which it was said.
SELECT e.seq, e.id, e.kind, e.text, e.source, e.tokens, e.at, e.form, e.packed, e.archived_at, e.shown_in FROM entries e WHERE e.agent = :agent AND e.shown_in = :id AND e.seq > :after ORDER BY e.seq LIMIT :limit
