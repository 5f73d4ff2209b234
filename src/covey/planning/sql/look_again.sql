-- All agents are looked at again at once.
UPDATE plannings SET next_at = 0 WHERE next_at > 0
