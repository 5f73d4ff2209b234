-- The answer that was given under a key.
SELECT digest, status, body FROM answered_requests WHERE caller = :caller AND key = :key
