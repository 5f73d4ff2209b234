-- How much mail waits in a mailbox.
SELECT count(*) AS n FROM copies WHERE receiver = :receiver AND state = 'delivered'
