-- Whom this one covers.
SELECT agent FROM coverings WHERE buddy = :buddy ORDER BY agent
