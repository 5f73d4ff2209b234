-- What waits in the mailbox of an agent that leaves, and whether its heir has a copy already.
SELECT c.message_id, c.sender, EXISTS (SELECT 1 FROM copies o WHERE o.message_id = c.message_id AND o.receiver = :heir) AS known
  FROM copies c WHERE c.receiver = :leaver AND c.state = 'delivered' ORDER BY c.seq
