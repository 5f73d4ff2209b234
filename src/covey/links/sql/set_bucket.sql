-- What is left in one direction, nothing else of it.
UPDATE peer_states SET credits = :credits, reset_at = :reset_at, began_at = :began_at
 WHERE link_id = :link_id AND channel = 'dm' AND sender = :sender
