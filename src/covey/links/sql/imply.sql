-- A link that the mesh implies gets its row, unless it has one.
INSERT INTO links (id, one, other, messages, hours, debounce_s, limited, enabled, implied, version, created_at, created_by)
VALUES (:id, :one, :other, :messages, :hours, :debounce_s, 1, 1, 1, 1, :now, 'mesh') ON CONFLICT (id) DO NOTHING
