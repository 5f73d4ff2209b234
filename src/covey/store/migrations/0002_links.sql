-- Links between agents, what is left of their limits, mail that waits for credit, and how often two agents took turns in a thread.
-- Everything is new or may be left out, so that the version before goes on beside it.

CREATE TABLE links (
  id TEXT PRIMARY KEY,
  one TEXT NOT NULL,
  other TEXT NOT NULL,
  messages INTEGER NOT NULL,
  hours INTEGER NOT NULL,
  debounce_s REAL NOT NULL,
  limited INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  feature TEXT,
  one_endpoint TEXT,
  other_endpoint TEXT,
  implied INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at REAL NOT NULL,
  created_by TEXT NOT NULL,
  removed_at REAL,
  removed_why TEXT
);
CREATE INDEX links_of_one ON links (one, id);
CREATE INDEX links_of_other ON links (other, id);

CREATE TABLE peer_states (
  link_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  sender TEXT NOT NULL,
  credits INTEGER NOT NULL,
  reset_at REAL,
  last_at REAL,
  last_run TEXT,
  recent TEXT NOT NULL,
  PRIMARY KEY (link_id, channel, sender)
) /*sqlite*/WITHOUT ROWID/*end*/;

CREATE INDEX copies_deferred_of ON copies (sender, receiver, seq) WHERE state = 'deferred';
CREATE INDEX copies_deferred_expiring ON copies (expires_at) WHERE state = 'deferred' AND expires_at IS NOT NULL;
CREATE INDEX copies_at_work ON copies (receiver, seq) WHERE state = 'seen';

ALTER TABLE messages ADD COLUMN turns INTEGER;
