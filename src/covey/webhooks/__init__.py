"""Events told to other programs: signed requests to the addresses of the settings, at least once each, in order."""
