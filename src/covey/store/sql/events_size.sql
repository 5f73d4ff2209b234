-- How many events there are, about, and how long the latest are.
SELECT (SELECT max(seq) FROM events) - (SELECT min(seq) FROM events) + 1 AS n,
       (SELECT avg(length(data)) FROM (SELECT data FROM events ORDER BY seq DESC LIMIT 500) AS latest) AS data_bytes
