"""Votes over the fleet (Q4): durable, secret until closed, asked by mail, counted by `teams.counting`."""
