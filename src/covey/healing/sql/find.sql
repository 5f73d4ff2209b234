-- One incident.
SELECT seq, id, agent, kind, subject, cause, data, opened_at, called_at, ended_at, outcome
  FROM incidents WHERE id = :id
