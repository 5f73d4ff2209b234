-- Put a copy of a message into its receiver's mailbox.
INSERT INTO copies (message_id, receiver, sender, state, wakes, not_urgent, sort_key, not_before, expires_at, answer_due, delivered_at, link_id, deliver_at)
VALUES (:message_id, :receiver, :sender, :state, :wakes, :not_urgent, :sort_key, :not_before, :expires_at, :answer_due, :delivered_at, :link_id, :deliver_at)
