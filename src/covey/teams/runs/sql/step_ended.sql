-- A step has ended.
UPDATE team_steps SET state = :state, worker = coalesce(:worker, worker), error = :error
 WHERE run_id = :run_id AND place = :place AND state IN ('waiting', 'out')
