-- The templates that an agent's brain says it can't do.
SELECT template FROM unable WHERE agent = :agent
