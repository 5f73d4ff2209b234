-- Who waits for an agent's answer.
SELECT DISTINCT sender FROM copies WHERE receiver = :agent AND answer_due IS NOT NULL AND state IN ('delivered', 'seen')
