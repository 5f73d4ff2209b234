-- What is planned for idle agents, and the budgets of a day.
-- Everything is new, so that the version before goes on beside it.

CREATE TABLE budgets (name TEXT PRIMARY KEY, configured REAL, set_to REAL, set_at REAL, set_by TEXT, told_at REAL);

CREATE TABLE planned (
  agent TEXT NOT NULL,
  template TEXT NOT NULL,
  task_id TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (agent, template)
) /*sqlite*/WITHOUT ROWID/*end*/;

CREATE TABLE generated (task_id TEXT PRIMARY KEY, agent TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX generated_by_agent ON generated (agent, at);
CREATE INDEX generated_by_age ON generated (at);

CREATE TABLE plannings (agent TEXT PRIMARY KEY, at REAL NOT NULL, next_at REAL NOT NULL, why TEXT NOT NULL, made INTEGER NOT NULL);

CREATE TABLE unable (agent TEXT NOT NULL, template TEXT NOT NULL, PRIMARY KEY (agent, template)) /*sqlite*/WITHOUT ROWID/*end*/;

INSERT INTO locks (kind) VALUES ('budget');

CREATE INDEX runs_by_agent ON runs (agent, claimed_at);
CREATE INDEX runs_priced ON runs (ended_at, cost_usd) WHERE cost_usd IS NOT NULL;
CREATE INDEX agents_by_role ON agents (lower(role) /*postgres: COLLATE "C"*/) WHERE removed_at IS NULL;
