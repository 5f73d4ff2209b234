-- How long the mail that one agent handled last was on its way, from its mailbox to handled.
SELECT c.receiver AS agent, c.handled_at - c.delivered_at AS seconds
  FROM (SELECT kind, subject, agent FROM events WHERE agent = :agent ORDER BY seq DESC LIMIT :limit) e
  JOIN copies c ON c.message_id = e.subject AND c.receiver = e.agent
 WHERE e.kind = 'message.handled' AND c.handled_at IS NOT NULL
