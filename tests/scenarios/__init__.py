"""Real processes, real kills: a fleet is started as a person starts it, and must survive."""
