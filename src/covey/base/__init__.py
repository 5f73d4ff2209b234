"""What everything stands on: errors, clock, ids, settings, loops. Knows nothing of agents or stores."""
