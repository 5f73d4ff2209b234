-- Take a key for a request that is about to be done; whoever comes second waits for the first one's commit.
INSERT INTO answered_requests (caller, key, digest, status, body, at) VALUES (:caller, :key, :digest, 0, '', :now)
ON CONFLICT (caller, key) DO NOTHING
