-- What waits for credit in one direction, oldest first.
SELECT seq, message_id FROM copies
 WHERE sender = :sender AND receiver = :receiver AND state = 'deferred' AND (expires_at IS NULL OR expires_at > :now) ORDER BY seq LIMIT :limit
