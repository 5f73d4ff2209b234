"""Tasks: queued, claimed under a lease, finished once; their dependencies, approvals and schedules."""
