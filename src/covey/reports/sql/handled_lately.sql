-- How long the mail that was handled last was on its way, and when it was handled.
SELECT c.handled_at AS at, c.handled_at - c.delivered_at AS seconds
  FROM (SELECT kind, subject, agent FROM events ORDER BY seq DESC LIMIT :limit) e
  JOIN copies c ON c.message_id = e.subject AND c.receiver = e.agent
 WHERE e.kind = 'message.handled' AND c.handled_at >= :since
