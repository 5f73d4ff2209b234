-- A leader that ends makes room at once.
UPDATE leaders SET until = 0 WHERE holder = :holder
