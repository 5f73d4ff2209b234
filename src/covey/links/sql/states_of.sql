-- What is left in each direction of a link, and what was accepted there of late.
SELECT sender, credits, reset_at, began_at, last_at, last_run, recent FROM peer_states WHERE link_id = :link_id AND channel = 'dm' ORDER BY sender
