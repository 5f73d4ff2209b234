-- What belongs to a vote that is forgotten.
DELETE FROM voters WHERE vote_id = :id
