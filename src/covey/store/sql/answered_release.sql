-- A request that was refused changed nothing: its key is free again.
DELETE FROM answered_requests WHERE caller = :caller AND key = :key
