-- An agent's checkpoint.
SELECT at, run_id, item, outcome, summary, version, last_entry, size FROM checkpoints WHERE agent = :agent
