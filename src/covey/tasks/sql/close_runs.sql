-- No run of the store's last epoch goes on.
UPDATE runs SET ended_at = :now, outcome = 'lost' WHERE ended_at IS NULL
