-- An entry that comes from another store, as it stood there.
INSERT INTO entries (id, agent, kind, text, source, tokens, at, archived_at) VALUES (:id, :agent, :kind, :text, :source, :tokens, :at, :archived_at)
