-- How a webhook fares now.
INSERT INTO webhooks (name, tries, retry_at, down_since, said, sent, sent_at, given_up)
VALUES (:name, :tries, :retry_at, :down_since, :said, :sent, :sent_at, :given_up)
ON CONFLICT (name) DO UPDATE SET tries = excluded.tries, retry_at = excluded.retry_at, down_since = excluded.down_since, said = excluded.said,
       sent = excluded.sent, sent_at = excluded.sent_at, given_up = excluded.given_up
