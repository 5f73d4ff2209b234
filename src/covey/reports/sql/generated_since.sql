-- How many tasks were generated for each agent since a time.
SELECT agent, count(*) AS tasks FROM generated WHERE at > :since GROUP BY /*sqlite*/+/*end*/agent
