-- Whose entry this is.
SELECT agent FROM entries WHERE id = :id
