-- Who may vote, in order.
SELECT voter, expertise, spoke_in, left_at FROM voters WHERE vote_id = :vote_id ORDER BY place
