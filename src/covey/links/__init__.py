"""Links: who may talk to whom, and how much. Above agents, below messages; it knows no message."""
