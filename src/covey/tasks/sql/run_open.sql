-- A run, before its brain starts.
INSERT INTO runs (id, item, kind, agent, node, attempt, claimed_at) VALUES (:id, :item, :kind, :agent, :node, :attempt, :now)
