-- The open incidents of an agent, of one kind or of all.
SELECT seq, id, agent, kind, subject, cause, data, opened_at, called_at, ended_at, outcome
  FROM incidents WHERE agent = :agent AND ended_at IS NULL AND (:kind = '' OR kind = :kind) ORDER BY seq
