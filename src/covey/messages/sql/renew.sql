-- Lengthen the lease of a token.
UPDATE copies SET lease_ends = :lease_ends WHERE token = :token AND state = 'seen'
