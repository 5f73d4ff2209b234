-- The machines that are short of something.
SELECT node, why FROM pressures ORDER BY node
