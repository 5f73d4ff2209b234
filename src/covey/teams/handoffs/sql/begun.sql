-- The giver's run has ended, so the task that was handed over may begin.
UPDATE handoffs SET awaits_run = NULL WHERE id = :id AND awaits_run IS NOT NULL
