-- Whether a token still leases mail.
SELECT 1 AS found FROM copies WHERE token = :token AND state = 'seen' LIMIT 1
