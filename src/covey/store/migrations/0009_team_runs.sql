-- Team runs: a goal, the steps it was cut into, and the task that does each step.
-- Everything is new, so that the version before goes on beside it.

CREATE TABLE team_runs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  draft TEXT NOT NULL,
  workers TEXT NOT NULL,
  plan_task TEXT,
  planned_by TEXT,
  state TEXT NOT NULL,
  why TEXT,
  note TEXT,
  quality REAL,
  summary TEXT,
  created_by TEXT NOT NULL,
  created_at REAL NOT NULL,
  look_at REAL NOT NULL,
  told_at REAL,
  ended_at REAL
);
CREATE INDEX team_runs_open ON team_runs (look_at) WHERE ended_at IS NULL;
CREATE INDEX team_runs_planning ON team_runs (plan_task) WHERE state = 'planning';

CREATE TABLE team_steps (
  run_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  kind TEXT NOT NULL,
  description TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  wanted TEXT,
  needs TEXT NOT NULL,
  state TEXT NOT NULL,
  worker TEXT,
  task_id TEXT,
  error TEXT,
  PRIMARY KEY (run_id, place)
);
CREATE INDEX team_steps_by_state ON team_steps (run_id, state, place);
CREATE UNIQUE INDEX team_steps_of_task ON team_steps (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX team_steps_out ON team_steps (task_id) WHERE state = 'out';
