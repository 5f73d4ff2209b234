-- The open incidents of a kind about something.
SELECT id FROM incidents WHERE subject = :subject AND subject <> '' AND kind = :kind AND ended_at IS NULL ORDER BY seq
