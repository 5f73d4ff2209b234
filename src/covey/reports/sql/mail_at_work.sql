-- The mail that is with brains.
SELECT receiver, message_id, token, lease_ends FROM copies WHERE state = 'seen' AND lease_ends > 0
