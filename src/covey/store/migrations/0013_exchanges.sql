-- Exchanges: tasks that a message from outside began (A2A), the messages that belong to each, where news of it is pushed; and, the other
-- way round, which of our work is in the hands of which agent of another system. Everything
-- is new, so that the version before goes on beside it.

CREATE TABLE exchanges (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  caller TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  created_at REAL NOT NULL
);
CREATE INDEX exchanges_of_agent ON exchanges (agent, seq);
CREATE INDEX exchanges_of_caller ON exchanges (agent, caller, seq);
CREATE INDEX exchanges_of_thread ON exchanges (agent, thread_id, seq);

CREATE TABLE exchange_messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL,
  message_id TEXT NOT NULL
);
CREATE INDEX exchange_messages_of ON exchange_messages (task_id, seq);

CREATE TABLE pushes (
  task_id TEXT NOT NULL,
  id TEXT NOT NULL,
  url TEXT NOT NULL,
  token TEXT NOT NULL,
  scheme TEXT NOT NULL,
  credentials TEXT NOT NULL,
  version TEXT NOT NULL,
  created_at REAL NOT NULL,
  xid INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at REAL NOT NULL,
  ended_at REAL,
  PRIMARY KEY (task_id, id)
) /*sqlite*/WITHOUT ROWID/*end*/;
CREATE INDEX pushes_open ON pushes (due_at) WHERE ended_at IS NULL;

CREATE TABLE abroad (
  key TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  url TEXT NOT NULL,
  task_id TEXT NOT NULL,
  context_id TEXT NOT NULL,
  at REAL NOT NULL
);
CREATE INDEX abroad_by_age ON abroad (at);
