-- A copy that comes from another store, as it stood there.
INSERT INTO copies (message_id, receiver, sender, state, wakes, not_urgent, sort_key, not_before, attempts, expires_at, delivered_at, seen_at, handled_at,
  ended_at, reason, answer_due, answered_at, answered_by, gave_up_at, link_id)
VALUES (:message_id, :receiver, :sender, :state, :wakes, :not_urgent, :sort_key, :not_before, :attempts, :expires_at, :delivered_at, :seen_at, :handled_at,
  :ended_at, :reason, :answer_due, :answered_at, :answered_by, :gave_up_at, :link_id)
