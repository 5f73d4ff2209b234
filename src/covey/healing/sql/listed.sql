-- Incidents, newest first, of one kind or of all, those that have ended or all.
SELECT seq, id, agent, kind, subject, cause, data, opened_at, called_at, ended_at, outcome
  FROM incidents WHERE seq < :before AND (:kind = '' OR kind = :kind) AND (:ended = 0 OR ended_at IS NOT NULL)
 ORDER BY seq DESC LIMIT :limit
