-- The run that a half-open breaker lets through.
UPDATE breakers SET trial = :run_id WHERE agent = :agent
