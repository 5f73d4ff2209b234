-- How much mail waits in each mailbox, and since when the oldest of it.
SELECT w.receiver, w.unread, c.delivered_at AS since
  FROM (SELECT receiver, count(*) AS unread, min(seq) AS oldest FROM copies
         WHERE state = 'delivered' AND receiver >= :low AND receiver <= :high GROUP BY receiver) w
  JOIN copies c ON c.seq = w.oldest
