-- A voter is asked once more in this round, unless it was already or has voted in it.
UPDATE voters SET again_in = :round
 WHERE vote_id = :vote_id AND voter = :voter AND left_at IS NULL AND spoke_in < :round AND again_in < :round
