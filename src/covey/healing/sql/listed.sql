-- Incidents, newest first, of one kind or of all.
SELECT seq, id, agent, kind, subject, cause, data, opened_at, called_at, ended_at, outcome
  FROM incidents WHERE seq < :before AND (:kind = '' OR kind = :kind) ORDER BY seq DESC LIMIT :limit
