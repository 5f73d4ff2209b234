-- Entries of all agents, live and archived, in the order in which they were made.
SELECT seq, id, agent, kind, text, source, tokens, at, archived_at, form, packed, shown_in FROM entries WHERE seq > :after ORDER BY seq LIMIT :limit
