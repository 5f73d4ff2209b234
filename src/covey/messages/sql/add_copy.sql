-- Put a copy of a message into its receiver's mailbox.
INSERT INTO copies (message_id, receiver, sender, state, wakes, not_urgent, sort_key, not_before, expires_at, answer_due, delivered_at)
VALUES (:message_id, :receiver, :sender, 'delivered', :wakes, :not_urgent, :sort_key, :now, :expires_at, :answer_due, :now)
