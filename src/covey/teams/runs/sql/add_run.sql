-- Add a run.
INSERT INTO team_runs (id, draft, workers, planned_by, state, created_by, created_at, look_at)
VALUES (:id, :draft, :workers, :planned_by, 'working', :created_by, :now, :now)
