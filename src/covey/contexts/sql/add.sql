-- Add an entry.
INSERT INTO entries (id, agent, kind, text, source, tokens, at, archived_at, form, packed, shown_in)
VALUES (:id, :agent, :kind, :text, :source, :tokens, :at, :archived_at, :form, :packed, :shown_in)
