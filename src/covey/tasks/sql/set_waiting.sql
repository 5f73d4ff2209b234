-- What a waiting task waits for.
UPDATE tasks SET waiting_for = :waiting_for WHERE id = :id
