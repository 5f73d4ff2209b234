-- That a budget is spent is told now, unless it was told a short while ago.
INSERT INTO budgets (name, told_at) VALUES (:name, :now)
  ON CONFLICT (name) DO UPDATE SET told_at = excluded.told_at WHERE budgets.told_at IS NULL OR budgets.told_at <= :before
