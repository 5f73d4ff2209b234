-- A run has its steps and its workers.
UPDATE team_runs SET state = 'working', workers = :workers, planned_by = :planned_by, note = :note WHERE id = :id
