-- Nobody leads, and whoever led can't be taken for who will.
UPDATE leaders SET until = 0, fence = fence + 1
