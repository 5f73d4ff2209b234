-- The leader's lease moves with a step of the store's clock.
UPDATE leaders SET until = until + :seconds WHERE until > 0
