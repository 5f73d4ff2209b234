-- A named value of the fleet.
SELECT value FROM facts WHERE name = :name
