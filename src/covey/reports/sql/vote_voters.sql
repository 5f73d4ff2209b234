-- Who may vote, whether it has in this round, and whether it takes mail now.
SELECT w.voter, w.spoke_in, a.paused_at, a.stopped_at
  FROM voters w JOIN agents a ON a.id = w.voter
 WHERE w.vote_id = :id AND w.left_at IS NULL ORDER BY w.place
