-- A run goes.
DELETE FROM team_runs WHERE seq = :seq
