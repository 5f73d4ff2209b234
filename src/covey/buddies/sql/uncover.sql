-- An agent is covered no more.
DELETE FROM coverings WHERE agent = :agent
