-- Since when quiet mail waits for one agent, and when it was last handed over: the digest is due from the later of both (M4b).
SELECT min(c.delivered_at) AS since, v.last_digest_at
  FROM vitals v LEFT JOIN (SELECT receiver, delivered_at FROM copies
                            WHERE receiver = :receiver AND wakes = 0 AND state = 'delivered' AND not_before <= :now
                            ORDER BY not_urgent, sort_key, seq LIMIT 20) c ON c.receiver = v.agent
 WHERE v.agent = :receiver GROUP BY v.last_digest_at
