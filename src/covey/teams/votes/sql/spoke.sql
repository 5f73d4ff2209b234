-- A voter has cast its ballot in this round.
UPDATE voters SET spoke_in = :round WHERE vote_id = :vote_id AND voter = :voter
