-- An answer that is past its time no longer stands for its key.
DELETE FROM answered_requests WHERE caller = :caller AND key = :key AND at < :before
