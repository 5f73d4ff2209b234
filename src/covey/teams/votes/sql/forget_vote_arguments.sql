-- What belongs to a vote that is forgotten.
DELETE FROM vote_arguments WHERE vote_id = :id
