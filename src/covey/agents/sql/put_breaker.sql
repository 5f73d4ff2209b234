-- An agent's brain failed.
INSERT INTO breakers (agent, failures, first_item, varied, openings, opened_at, until, reason)
VALUES (:agent, :failures, :first_item, :varied, :openings, :opened_at, :until, :reason)
ON CONFLICT (agent) DO UPDATE SET
  failures = excluded.failures, first_item = excluded.first_item, varied = excluded.varied, openings = excluded.openings, opened_at = excluded.opened_at,
  until = excluded.until, reason = excluded.reason
