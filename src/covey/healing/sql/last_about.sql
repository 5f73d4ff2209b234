-- The latest incident of a kind about something.
SELECT id, opened_at, ended_at FROM incidents WHERE subject = :subject AND subject <> '' AND kind = :kind ORDER BY seq DESC LIMIT 1
