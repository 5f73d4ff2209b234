-- When a direction's window began, so that a shorter one ends at its start plus the new length, whatever it was made before. A window
-- that runs now, or that the version before starts beside this one, has none: its start is taken for its end less its length.

ALTER TABLE peer_states ADD COLUMN began_at REAL;
