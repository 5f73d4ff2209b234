-- What somebody waits for, the soonest deadline first.
SELECT message_id, receiver, answer_due FROM copies WHERE sender = :sender AND answer_due IS NOT NULL ORDER BY answer_due
