"""A coding assistant's seat in the fleet: what is written into its settings so that it works as one of the agents, and taken out again.

`hook` is what the assistant runs after each of its steps; it imports as little as it can, since the assistant waits for it.
"""
