-- For whose answers somebody waits.
SELECT DISTINCT receiver FROM copies WHERE sender = :sender AND answer_due IS NOT NULL
