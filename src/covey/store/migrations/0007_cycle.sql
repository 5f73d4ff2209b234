-- Tasks that others do while their agent is down, machines that are short of something, and the index of what is still claimed there.

CREATE TABLE lent_tasks (
  task_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  heir TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  at REAL NOT NULL
);
CREATE INDEX lent_tasks_of ON lent_tasks (owner);

CREATE TABLE pressures (node TEXT PRIMARY KEY, at REAL NOT NULL, why TEXT NOT NULL);

CREATE INDEX tasks_pressing ON tasks (queue, not_urgent, sort_key, seq) WHERE state = 'queued' AND priority IN ('urgent', 'high');
