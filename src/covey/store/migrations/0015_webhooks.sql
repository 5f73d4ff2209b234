-- Webhooks: how each one of the settings fares. Its place in the story is a bookmark like any other's. The table is new, so that the
-- version before goes on beside it. A row a webhook.

CREATE TABLE webhooks (
  name TEXT PRIMARY KEY,
  tries INTEGER NOT NULL,
  retry_at REAL,
  down_since REAL,
  said TEXT NOT NULL,
  sent INTEGER NOT NULL,
  sent_at REAL,
  given_up INTEGER NOT NULL
);
