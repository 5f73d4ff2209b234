-- A deferred copy is put into its receiver's mailbox.
UPDATE copies SET state = 'delivered', delivered_at = :now, not_before = :now WHERE seq = :seq AND state = 'deferred'
