-- The answer of the request that took the key.
UPDATE answered_requests SET status = :status, body = :body WHERE caller = :caller AND key = :key
