-- Whose dead letters there are, the newest first.
SELECT receiver, sender, message_id, substr(reason, 1, 300) AS reason, attempts, ended_at FROM copies WHERE state = 'dead' AND seq > 0 ORDER BY seq DESC LIMIT :limit
