-- An agent has checked its buddy.
UPDATE vitals SET last_buddy_check = :now WHERE agent = :agent
