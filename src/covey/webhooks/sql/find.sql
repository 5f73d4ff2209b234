-- How a webhook fares.
SELECT name, tries, retry_at, down_since, said, sent, sent_at, given_up FROM webhooks WHERE name = :name
