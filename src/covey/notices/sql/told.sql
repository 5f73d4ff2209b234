-- It was told by this channel, or given up.
DELETE FROM notice_tries WHERE channel = :channel
