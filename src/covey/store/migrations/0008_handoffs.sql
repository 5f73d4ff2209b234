-- Handoffs: each offer of a task by the agent that has it to another one, what goes with it, and what came of it.
-- Everything is new, so that the version before goes on beside it.
-- `package` is what is handed over, as JSON. `waited_for` is what the task waited for before it was set aside for the offer.
-- `awaits_run` is the run of the giver that must be known to have ended before the task may begin anew.

CREATE TABLE handoffs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  task_id TEXT NOT NULL,
  giver TEXT NOT NULL,
  receiver TEXT NOT NULL,
  offered_by TEXT NOT NULL,
  state TEXT NOT NULL,
  package TEXT NOT NULL,
  path TEXT NOT NULL,
  returns INTEGER NOT NULL,
  waited_for TEXT,
  awaits_run TEXT,
  offered_at REAL NOT NULL,
  deadline REAL NOT NULL,
  ended_at REAL,
  ended_by TEXT,
  why TEXT
);
CREATE UNIQUE INDEX handoffs_open ON handoffs (task_id) WHERE state = 'offered';
CREATE INDEX handoffs_due ON handoffs (deadline) WHERE state = 'offered';
CREATE INDEX handoffs_to_begin ON handoffs (awaits_run) WHERE awaits_run IS NOT NULL;
CREATE INDEX handoffs_by_task ON handoffs (task_id, seq);
CREATE INDEX handoffs_by_end ON handoffs (ended_at) WHERE ended_at IS NOT NULL;
