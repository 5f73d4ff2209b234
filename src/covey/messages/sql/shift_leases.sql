-- Live leases move with a step of the store's clock.
UPDATE copies SET lease_ends = lease_ends + :seconds WHERE state = 'seen'
