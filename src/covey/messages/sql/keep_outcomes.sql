-- Keep what became of each copy at the sending, where it is more than delivered.
UPDATE messages SET outcomes = :outcomes WHERE id = :id
