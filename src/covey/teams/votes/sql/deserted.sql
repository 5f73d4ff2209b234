-- The open votes with a voter who is of the fleet no more.
SELECT v.id FROM votes v
 WHERE v.state = 'open' AND v.state <> 'closed'
   AND EXISTS (SELECT 1 FROM voters w JOIN agents a ON a.id = w.voter
                WHERE w.vote_id = v.id AND w.left_at IS NULL AND a.removed_at IS NOT NULL)
 LIMIT :limit
