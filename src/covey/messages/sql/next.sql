-- The first waking mail of a mailbox whose agent takes work: urgent before all, then by its fixed key.
SELECT seq,
       CASE WHEN EXISTS (SELECT 1 FROM breakers b WHERE b.agent = :receiver AND b.until IS NOT NULL) THEN 1 ELSE 0 END AS barred
  FROM copies
 WHERE receiver = :receiver AND wakes = 1 AND state = 'delivered' AND not_before <= :now AND (expires_at IS NULL OR expires_at > :now)
   AND EXISTS (SELECT 1 FROM agents WHERE id = :receiver AND paused_at IS NULL AND stopped_at IS NULL AND failed_at IS NULL AND removed_at IS NULL)
 ORDER BY not_urgent, sort_key, seq LIMIT 1 /*postgres: FOR UPDATE SKIP LOCKED*/
