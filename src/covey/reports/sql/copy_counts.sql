-- How many copies of a message stand in each state.
SELECT state, count(*) AS copies FROM copies WHERE message_id = :id GROUP BY state
