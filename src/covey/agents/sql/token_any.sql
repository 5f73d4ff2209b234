-- Whether anybody has a bearer token.
SELECT 1 AS found FROM tokens LIMIT 1
