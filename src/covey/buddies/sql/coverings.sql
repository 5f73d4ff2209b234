-- Who is covered by whom, of those whose names are in a range.
SELECT agent, buddy, since, why FROM coverings WHERE buddy >= :low AND buddy <= :high ORDER BY agent
