-- Who is covered by whom.
SELECT agent, buddy, since, why FROM coverings ORDER BY agent
