-- All projects.
SELECT name, path, agents FROM projects ORDER BY name
