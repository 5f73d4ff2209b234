-- A waiting task gets another priority.
UPDATE tasks SET priority = :priority, not_urgent = :not_urgent, sort_key = :sort_key, queue = :queue WHERE id = :id
