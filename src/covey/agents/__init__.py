"""Agents: who they are, whether they live, their flags. The lowest feature; it knows no message and no task."""
