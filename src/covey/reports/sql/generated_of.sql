-- How many tasks were generated for an agent since a time, and which must fall out of the day for one more.
SELECT count(*) AS tasks, (SELECT at FROM generated WHERE agent = :agent AND at > :since ORDER BY at DESC LIMIT 1 OFFSET :over) AS frees
  FROM generated WHERE agent = :agent AND at > :since
