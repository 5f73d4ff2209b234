-- What belongs to a vote that is forgotten.
DELETE FROM ballots WHERE vote_id = :id
