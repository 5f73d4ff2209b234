-- The open incidents about something.
SELECT id, agent, kind, cause, opened_at FROM incidents WHERE subject = :subject AND subject <> '' AND ended_at IS NULL ORDER BY seq
