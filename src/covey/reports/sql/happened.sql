-- How often what happened since a time, among the latest events.
SELECT e.kind, count(*) AS times FROM (SELECT kind, at FROM events ORDER BY seq DESC LIMIT :limit) e WHERE e.at >= :since GROUP BY e.kind
