-- The oldest runs, with whether each is to be kept: it is open or ended lately.
SELECT seq, id, created_at, ended_at IS NULL OR ended_at >= :before AS kept
  FROM team_runs WHERE seq > :after ORDER BY seq LIMIT :limit
