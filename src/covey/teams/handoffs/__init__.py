"""Handoffs over the fleet (Q3): an agent offers a task of its own to another, which accepts, declines, or lets the offer expire."""
