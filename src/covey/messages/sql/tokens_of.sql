-- The leases that an agent holds on its mail.
SELECT DISTINCT token FROM copies WHERE receiver = :receiver AND state = 'seen' AND token IS NOT NULL
