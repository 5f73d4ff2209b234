-- An agent without a process of ours has called.
UPDATE vitals SET seen_at = :now WHERE agent = :agent
