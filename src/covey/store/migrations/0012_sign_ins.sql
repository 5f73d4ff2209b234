-- The operator's sign-ins to the console. Everything is new, so that the version before goes on beside it.

CREATE TABLE sign_ins (
  hash TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL,
  began_at REAL NOT NULL,
  ends_at REAL NOT NULL
) /*sqlite*/WITHOUT ROWID/*end*/;
CREATE INDEX sign_ins_ends ON sign_ins (ends_at);
