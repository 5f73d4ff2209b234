-- Forget what was shown of an agent's mail that waits no more; what still waits is not shown a second time.
DELETE FROM covered_mail WHERE agent = :agent AND NOT EXISTS (
  SELECT 1 FROM copies c WHERE c.message_id = covered_mail.message_id AND c.receiver = covered_mail.agent AND c.state IN ('delivered', 'seen'))
