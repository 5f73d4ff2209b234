-- Buddies: what came of each agent's checks of the one it watches, who is covered by whom and which mail was shown for that, and how
-- often it was tried to tell the operator elsewhere. Everything is new, so that the version before goes on beside it.
-- buddy_checks has a row an agent, coverings one for each that is down, covered_mail one for each urgent message that such a one has not
-- taken yet, notice_tries one a channel of the settings.

CREATE TABLE buddy_checks (
  checker TEXT PRIMARY KEY,
  checked TEXT NOT NULL,
  at REAL NOT NULL,
  done_by TEXT NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  unreachable INTEGER NOT NULL,
  look_at REAL NOT NULL,
  made INTEGER NOT NULL,
  answered INTEGER NOT NULL,
  missed_in_a_row INTEGER NOT NULL
);
CREATE INDEX buddy_checks_missed ON buddy_checks (checked) WHERE unreachable = 1;

CREATE TABLE coverings (
  agent TEXT PRIMARY KEY,
  buddy TEXT NOT NULL,
  since REAL NOT NULL,
  why TEXT NOT NULL
);
CREATE INDEX coverings_by_buddy ON coverings (buddy);

CREATE TABLE covered_mail (
  agent TEXT NOT NULL,
  message_id TEXT NOT NULL,
  shown_to TEXT NOT NULL,
  PRIMARY KEY (agent, message_id)
) /*sqlite*/WITHOUT ROWID/*end*/;

CREATE TABLE notice_tries (
  channel TEXT PRIMARY KEY,
  tries INTEGER NOT NULL,
  retry_at REAL NOT NULL,
  said TEXT NOT NULL
);

INSERT INTO locks (kind) VALUES ('covering');
