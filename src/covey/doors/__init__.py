"""What every door stands on: the fleet's store and settings, who calls, what is new. It knows no protocol, and no door."""
