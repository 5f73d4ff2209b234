"""An agent's context: what it remembers of its work, within a hard bound (C1, C3a)."""
