-- What waits in one direction waits until then.
UPDATE copies SET deliver_at = :at WHERE sender = :sender AND receiver = :receiver AND state = 'deferred' AND deliver_at <> :at
