-- What the configuration says of links.
SELECT value FROM facts WHERE name = 'links'
