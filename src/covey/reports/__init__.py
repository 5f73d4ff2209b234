"""Read-only summaries: status, figures, why something waits, how the work stands. Verbs for `store.read`; they change nothing."""
