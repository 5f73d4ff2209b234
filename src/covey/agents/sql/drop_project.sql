-- A project is no more.
DELETE FROM projects WHERE name = :name
