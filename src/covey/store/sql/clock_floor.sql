-- Store time does not go below this any more.
UPDATE clock SET floor = :now WHERE id = 1 AND floor < :now - 0.5
