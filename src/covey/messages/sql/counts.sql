-- How many copies stand in each state.
SELECT state, count(*) AS n FROM copies GROUP BY state
