-- Live leases, and since when work is in hand, move with a step of the store's clock.
UPDATE tasks SET lease_ends = lease_ends + :seconds, claimed_at = claimed_at + :seconds, started_at = started_at + :seconds WHERE state = 'running'
