-- A step is another worker's.
UPDATE team_steps SET worker = :worker WHERE run_id = :run_id AND place = :place AND state = 'out'
