-- Incidents with their steps, the breakers of agents that fail again and again, and who said of a task that it can't do it.
-- An incident of no single agent has an empty one; one about nothing in particular has an empty subject. A breaker has a row from the
-- first failure of a streak to the next success.

CREATE TABLE incidents (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  cause TEXT NOT NULL,
  data TEXT NOT NULL,
  opened_at REAL NOT NULL,
  called_at REAL,
  ended_at REAL,
  outcome TEXT
);
CREATE UNIQUE INDEX incidents_open ON incidents (agent, kind, subject) WHERE ended_at IS NULL;
CREATE INDEX incidents_by_agent ON incidents (agent, seq);
CREATE INDEX incidents_by_subject ON incidents (subject, seq) WHERE subject <> '';
CREATE INDEX incidents_by_end ON incidents (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE incident_steps (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  incident_id TEXT NOT NULL REFERENCES incidents (id),
  at REAL NOT NULL,
  action TEXT NOT NULL,
  sentence TEXT NOT NULL
);
CREATE INDEX incident_steps_of ON incident_steps (incident_id, seq);

CREATE TABLE breakers (
  agent TEXT PRIMARY KEY REFERENCES agents (id),
  failures INTEGER NOT NULL,
  first_item TEXT NOT NULL,
  varied INTEGER NOT NULL,
  openings INTEGER NOT NULL,
  opened_at REAL,
  until REAL,
  reason TEXT NOT NULL,
  trial TEXT
);
CREATE INDEX breakers_open ON breakers (agent) WHERE opened_at IS NOT NULL;

ALTER TABLE tasks ADD COLUMN refused_by TEXT;
CREATE INDEX tasks_refused ON tasks (queue, not_before) WHERE state = 'queued' AND refused_by IS NOT NULL;
