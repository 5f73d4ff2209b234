-- Runs in the order of their ids.
SELECT id, item, kind, agent, node, attempt, pid, pgid, start_ticks, boot_id, claimed_at, started_at, ended_at, outcome, cost_usd, tokens, exit_code
  FROM runs WHERE id > :after ORDER BY id LIMIT :limit
