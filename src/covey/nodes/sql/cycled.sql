-- A controller cycle is done.
UPDATE leaders SET cycle = cycle + 1, cycled_at = :now WHERE fence = :fence
