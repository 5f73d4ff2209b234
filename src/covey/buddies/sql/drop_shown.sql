-- Forget what was shown of mail that waits no more, whoever's it was.
DELETE FROM covered_mail WHERE NOT EXISTS (
  SELECT 1 FROM copies c WHERE c.message_id = covered_mail.message_id AND c.receiver = covered_mail.agent AND c.state IN ('delivered', 'seen'))
