-- How many incidents of each kind are open.
SELECT kind, count(*) AS incidents FROM incidents WHERE ended_at IS NULL GROUP BY kind ORDER BY kind
