-- The oldest votes, with whether each is to be kept: it is open or was closed lately.
SELECT seq, id, opened_at AS created_at, closed_at IS NULL OR closed_at >= :before AS kept
  FROM votes WHERE seq > :after ORDER BY seq LIMIT :limit
