-- What the console adds: the operator's sign-ins, and indexes of what waits for a person. Everything is new, so that the version before
-- goes on beside it.

CREATE TABLE sign_ins (
  hash TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL,
  began_at REAL NOT NULL,
  ends_at REAL NOT NULL
) /*sqlite*/WITHOUT ROWID/*end*/;
CREATE INDEX sign_ins_ends ON sign_ins (ends_at);

CREATE INDEX tasks_wanting_approval ON tasks (seq) WHERE state = 'blocked' AND approval = 'wanted';
CREATE INDEX incidents_called ON incidents (seq) WHERE ended_at IS NULL AND called_at IS NOT NULL;
