-- An agent's brain failed on something.
UPDATE vitals SET tasks_failed = tasks_failed + :tasks, failures_in_a_row = failures_in_a_row + 1, last_active_at = :now WHERE agent = :agent
