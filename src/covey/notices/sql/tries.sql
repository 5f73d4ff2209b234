-- How often it was tried in vain to tell the operator by a channel.
SELECT tries, retry_at, said FROM notice_tries WHERE channel = :channel
