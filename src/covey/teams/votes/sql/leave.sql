-- A voter is taken out.
UPDATE voters SET left_at = :now WHERE vote_id = :vote_id AND voter = :voter AND left_at IS NULL
