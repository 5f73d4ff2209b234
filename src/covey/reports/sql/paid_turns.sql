-- How many turns of brains that cost money began since a time, and which of them must fall out of the day for one more to be free.
SELECT count(*) AS turns,
       (SELECT r.claimed_at FROM agents a CROSS JOIN runs r
         WHERE a.brain IN ('command', 'model', 'a2a', 'external') AND r.agent = a.id AND r.claimed_at > :since
           AND (r.outcome IS NULL OR r.outcome <> 'returned')
         ORDER BY r.claimed_at DESC LIMIT 1 OFFSET :over) AS frees
  FROM agents a CROSS JOIN runs r
 WHERE a.brain IN ('command', 'model', 'a2a', 'external') AND r.agent = a.id AND r.claimed_at > :since
   AND (r.outcome IS NULL OR r.outcome <> 'returned')
