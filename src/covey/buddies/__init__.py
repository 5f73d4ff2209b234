"""Buddies: who watches whom, what came of it, and who covers for an agent that is down (B1 to B5). Nothing here heals."""
