-- An approval is given or refused.
UPDATE tasks SET approval = :approval WHERE id = :id
