-- The voter's argument of a round, in place of the one it made in it before.
INSERT INTO vote_arguments (vote_id, round, voter, argument, at) VALUES (:vote_id, :round, :voter, :argument, :now)
ON CONFLICT (vote_id, round, voter) DO UPDATE SET argument = excluded.argument, at = excluded.at
