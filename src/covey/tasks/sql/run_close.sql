-- The end of a run.
UPDATE runs SET ended_at = :now, outcome = :outcome, cost_usd = :cost_usd, tokens = :tokens, exit_code = :exit_code WHERE id = :id AND ended_at IS NULL RETURNING agent, item, kind
