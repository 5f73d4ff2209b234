-- Dead copies of a message, one receiver's or all, are dropped: closed without having been handled.
UPDATE copies SET state = 'expired', ended_at = :now, reason = 'dropped by the operator: ' || coalesce(reason, '')
 WHERE message_id = :message_id AND state = 'dead' AND (:receiver = '' OR receiver = :receiver) RETURNING receiver
