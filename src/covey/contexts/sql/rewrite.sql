-- What is told of the archive, or of an emergency, told anew.
UPDATE entries SET text = :text, tokens = :tokens, at = :at WHERE id = :id AND archived_at IS NULL
