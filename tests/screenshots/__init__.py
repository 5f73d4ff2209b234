"""Pictures of the console's pages, of a fleet that has worked for a day: `scripts/screenshots` makes them."""
