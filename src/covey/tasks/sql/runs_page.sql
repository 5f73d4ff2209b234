-- Runs, downwards by id.
SELECT id, item, kind, agent, node, attempt, pid, claimed_at, started_at, ended_at, outcome, cost_usd, tokens, exit_code
  FROM runs WHERE id < :before ORDER BY id DESC LIMIT :limit
