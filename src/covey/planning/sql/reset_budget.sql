-- A budget that is as configured again.
UPDATE budgets SET set_to = NULL, set_at = NULL, set_by = NULL, told_at = NULL WHERE name = :name
