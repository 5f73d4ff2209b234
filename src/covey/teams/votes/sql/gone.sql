-- The voters of a vote who are of the fleet no more.
SELECT w.voter FROM voters w JOIN agents a ON a.id = w.voter
 WHERE w.vote_id = :vote_id AND w.left_at IS NULL AND a.removed_at IS NOT NULL ORDER BY w.place
