-- The voter's ballot of a round, in place of the one it cast in it before.
INSERT INTO ballots (vote_id, round, voter, selection, confidence, at) VALUES (:vote_id, :round, :voter, :selection, :confidence, :now)
ON CONFLICT (vote_id, round, voter) DO UPDATE SET selection = excluded.selection, confidence = excluded.confidence, at = excluded.at
