-- The directions in which mail waits for credit.
SELECT DISTINCT sender, receiver FROM copies WHERE state = 'deferred' ORDER BY sender, receiver
