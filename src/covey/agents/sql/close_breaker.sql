-- An agent's brain succeeded.
DELETE FROM breakers WHERE agent = :agent RETURNING failures, opened_at, until
