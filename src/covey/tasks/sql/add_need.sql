-- One task needs another.
INSERT INTO needs (task_id, needs_id, met_at) VALUES (:task_id, :needs_id, :met_at) ON CONFLICT DO NOTHING
