-- The open incident of an agent, kind and subject.
SELECT id FROM incidents WHERE agent = :agent AND kind = :kind AND subject = :subject AND ended_at IS NULL
