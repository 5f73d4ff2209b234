-- A step is a worker's task now.
UPDATE team_steps SET state = 'out', worker = :worker, task_id = :task_id WHERE run_id = :run_id AND place = :place AND state = 'waiting'
