"""What every door stands on: the fleet's store and settings, who calls, what is new, how HTTP is answered. It knows no feature's verbs."""
