-- A waiting task goes to another queue.
UPDATE tasks SET agent = :agent, capability = :capability, queue = :queue WHERE id = :id
