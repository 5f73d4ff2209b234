-- A copy is given up.
UPDATE copies SET state = 'dead', token = NULL, lease_ends = NULL, ended_at = :now, reason = :reason WHERE seq = :seq
