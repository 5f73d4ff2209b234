-- A node has ended in good order.
UPDATE nodes SET stopped_at = :now WHERE id = :id
