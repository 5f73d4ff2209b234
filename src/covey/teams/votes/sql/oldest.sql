-- The oldest votes, for their retention.
SELECT seq, id, opened_at, closed_at FROM votes WHERE seq > :after ORDER BY seq LIMIT :limit
