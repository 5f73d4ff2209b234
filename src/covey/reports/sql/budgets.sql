-- The budgets that were configured or set.
SELECT name, configured, set_to, set_at, set_by, told_at FROM budgets ORDER BY name
