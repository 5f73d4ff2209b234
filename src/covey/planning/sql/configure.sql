-- What covey.toml says of a budget.
INSERT INTO budgets (name, configured) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET configured = excluded.configured
