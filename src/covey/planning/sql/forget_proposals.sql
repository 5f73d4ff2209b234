-- An agent's proposals that have cooled down need not be remembered: each has a name of its own, so they would grow.
DELETE FROM planned WHERE agent = :agent AND template LIKE 'propose.%' AND at <= :before
