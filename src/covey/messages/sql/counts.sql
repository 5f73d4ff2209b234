-- How many copies stand in each open or odd state, how much of what was delivered is held, and how many there are in all.
SELECT (SELECT count(*) FROM copies WHERE state = 'delivered') AS delivered,
       (SELECT count(*) FROM copies WHERE state = 'seen') AS seen,
       (SELECT count(*) FROM copies WHERE state = 'deferred') AS deferred,
       (SELECT count(*) FROM copies WHERE state = 'dead') AS dead,
       (SELECT count(*) FROM copies WHERE state = 'expired') AS expired,
       (SELECT count(*) FROM copies WHERE state = 'delivered' AND receiver IN (
          SELECT id FROM agents WHERE (paused_at IS NOT NULL OR stopped_at IS NOT NULL) AND removed_at IS NULL)) AS held,
       (SELECT count(*) FROM copies) AS total
