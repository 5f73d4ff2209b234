-- How many votes of this opener are not closed.
SELECT count(*) AS n FROM votes WHERE opener = :opener AND state <> 'closed'
