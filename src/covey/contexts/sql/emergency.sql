-- A context had an emergency; its buddy was told, if it was.
UPDATE contexts SET emergencies = emergencies + 1, told_at = coalesce(:told_at, told_at) WHERE agent = :agent
