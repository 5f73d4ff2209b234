-- Lengthen the lease of a token.
UPDATE tasks SET lease_ends = :lease_ends WHERE token = :token AND state = 'running'
