-- What is left in each direction, as it is stored.
SELECT link_id, channel, sender, credits, reset_at, last_at, last_run, recent FROM peer_states
 WHERE link_id > :after OR (link_id = :after AND (channel > :channel OR (channel = :channel AND sender > :sender)))
 ORDER BY link_id, channel, sender LIMIT :limit
