"""Brains: what thinks for an agent. Each kind is a module; all have one contract (`model`)."""
