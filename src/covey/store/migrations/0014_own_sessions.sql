-- The ids by which brains with a context of their own know their sessions (C5a): one for an agent's mail, one for its tasks, since both
-- may be at work at once. Everything is new, so that the version before goes on beside it.

CREATE TABLE own_sessions (
  agent TEXT NOT NULL,
  lane TEXT NOT NULL,
  session INTEGER NOT NULL,
  own TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (agent, lane)
);
