-- Somebody who may vote.
INSERT INTO voters (vote_id, voter, place, expertise, spoke_in, again_in)
VALUES (:vote_id, :voter, :place, :expertise, 0, 0)
