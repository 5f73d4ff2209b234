-- Of the mail that waits in a mailbox, the latest so many: how many there are, and how many came after a time and are worth waking for.
SELECT count(*) AS unread, max(delivered_at) AS latest,
       coalesce(sum(CASE WHEN delivered_at > :after AND (wakes = 1 OR delivered_at <= :quiet_until) THEN 1 ELSE 0 END), 0) AS fresh
  FROM (SELECT delivered_at, wakes FROM copies WHERE receiver = :agent AND state = 'delivered' ORDER BY seq DESC LIMIT :limit) w
