-- Open breakers move with a step of the store's clock.
UPDATE breakers SET until = until + :seconds WHERE until IS NOT NULL
