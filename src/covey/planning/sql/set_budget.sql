-- A budget that is set by hand.
INSERT INTO budgets (name, set_to, set_at, set_by) VALUES (:name, :value, :now, :by)
  ON CONFLICT (name) DO UPDATE SET set_to = excluded.set_to, set_at = excluded.set_at, set_by = excluded.set_by, told_at = NULL
