-- A link as somebody wants it.
INSERT INTO links (id, one, other, messages, hours, debounce_s, limited, enabled, feature, one_endpoint, other_endpoint, implied, version,
  created_at, created_by, removed_at, removed_why)
VALUES (:id, :one, :other, :messages, :hours, :debounce_s, :limited, :enabled, :feature, :one_endpoint, :other_endpoint, 0, :version,
  :created_at, :created_by, :removed_at, :removed_why)
ON CONFLICT (id) DO UPDATE SET messages = excluded.messages, hours = excluded.hours, debounce_s = excluded.debounce_s, limited = excluded.limited,
  enabled = excluded.enabled, feature = excluded.feature, one_endpoint = excluded.one_endpoint, other_endpoint = excluded.other_endpoint,
  implied = 0, version = excluded.version, removed_at = excluded.removed_at, removed_why = excluded.removed_why
