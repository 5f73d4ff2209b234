-- The open votes with a voter who is of the fleet no more.
SELECT DISTINCT v.id FROM votes v JOIN voters w ON w.vote_id = v.id JOIN agents a ON a.id = w.voter
 WHERE v.state = 'open' AND v.state <> 'closed' AND w.left_at IS NULL AND a.removed_at IS NOT NULL LIMIT :limit
