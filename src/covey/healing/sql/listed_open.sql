-- Open incidents, newest first, of one agent and kind or of all.
SELECT seq, id, agent, kind, subject, cause, data, opened_at, called_at, ended_at, outcome
  FROM incidents
 WHERE ended_at IS NULL AND seq < :before AND (:kind = '' OR kind = :kind) AND (:agent = '' OR agent = :agent) ORDER BY seq DESC LIMIT :limit
