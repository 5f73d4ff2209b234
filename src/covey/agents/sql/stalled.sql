-- An agent has stalled once more.
UPDATE vitals SET stall_count = stall_count + 1 WHERE agent = :agent
