-- A schedule is no more.
UPDATE schedules SET removed_at = :now WHERE name = :name
