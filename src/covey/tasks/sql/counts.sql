-- How many tasks are in each state.
SELECT state, count(*) AS n FROM tasks GROUP BY state
