"""An agent at work: it takes one thing at a time in each lane, hands it to its brain, and settles the outcome in one transaction."""
