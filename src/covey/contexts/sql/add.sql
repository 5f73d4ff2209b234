-- Add an entry.
INSERT INTO entries (id, agent, kind, text, source, tokens, at, archived_at) VALUES (:id, :agent, :kind, :text, :source, :tokens, :at, :archived_at)
