-- The leader's lease, and when it last did its cycle, move with a step of the store's clock.
UPDATE leaders SET until = until + :seconds, cycled_at = cycled_at + :seconds WHERE until > 0
