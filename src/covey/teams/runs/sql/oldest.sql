-- The oldest runs.
SELECT seq, id, created_at, ended_at FROM team_runs WHERE seq > :after ORDER BY seq LIMIT :limit
