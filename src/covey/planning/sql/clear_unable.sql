-- An agent's brain has said nothing.
DELETE FROM unable WHERE agent = :agent
