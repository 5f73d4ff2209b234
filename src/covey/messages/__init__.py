"""Messages: sent once, each copy under its own lease, answered or given up. Knows no task."""
