"""The console's pages, a module each: its PLACE in the navigation, if it has one, and its OPERATIONS. `covey.console.app` lists them."""
