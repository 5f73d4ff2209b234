-- Dead copies of a message are dropped.
UPDATE copies SET state = 'handled', ended_at = :now, reason = 'dropped by the operator: ' || coalesce(reason, '')
 WHERE message_id = :message_id AND state = 'dead' RETURNING receiver
