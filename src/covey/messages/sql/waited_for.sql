-- For whose answers somebody waits, but for the one that is just given.
SELECT DISTINCT receiver FROM copies
 WHERE sender = :sender AND answer_due IS NOT NULL AND NOT (message_id = :answered AND receiver = :replier)
