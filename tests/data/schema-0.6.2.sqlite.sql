-- The fleet's first schema: clock, events, agents, messages and their copies, tasks, runs, nodes.
-- Times are Unix seconds of the store's clock, yes and no are 1 and 0, lists and objects are JSON text.

CREATE TABLE migrations (name TEXT PRIMARY KEY, at REAL NOT NULL);

CREATE TABLE clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  boot_id TEXT NOT NULL,
  ahead REAL NOT NULL,
  floor REAL NOT NULL DEFAULT 0
);

CREATE TABLE locks (kind TEXT PRIMARY KEY);
INSERT INTO locks (kind) VALUES ('circle'), ('dependencies'), ('dedupe'), ('lead'), ('settings');

CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  xid INTEGER NOT NULL,
  at REAL NOT NULL,
  kind TEXT NOT NULL,
  agent TEXT,
  subject TEXT,
  data TEXT NOT NULL
);
CREATE INDEX events_by_agent ON events (agent, seq) WHERE agent IS NOT NULL;
CREATE INDEX events_by_subject ON events (subject, seq) WHERE subject IS NOT NULL;


CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  role TEXT NOT NULL,
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  buddy TEXT NOT NULL,
  owner TEXT NOT NULL,
  organisation TEXT NOT NULL,
  brain TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  settings TEXT NOT NULL,
  created_at REAL NOT NULL,
  removed_at REAL,
  paused_at REAL,
  stopped_at REAL,
  flag_reason TEXT,
  failed_at REAL,
  failed_reason TEXT
);
CREATE INDEX agents_in_order ON agents (place) WHERE removed_at IS NULL;

CREATE TABLE tokens (name TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, at REAL NOT NULL);

CREATE TABLE agent_queues (agent TEXT NOT NULL REFERENCES agents (id), queue TEXT NOT NULL, PRIMARY KEY (agent, queue));
CREATE INDEX agent_queues_by_queue ON agent_queues (queue);

CREATE TABLE vitals (
  agent TEXT PRIMARY KEY REFERENCES agents (id),
  node TEXT,
  pid INTEGER,
  start_ticks INTEGER,
  boot_id TEXT,
  started_at REAL,
  heartbeat_at REAL,
  seen_at REAL,
  last_active_at REAL,
  last_digest_at REAL NOT NULL DEFAULT 0,
  last_buddy_check REAL,
  tasks_completed INTEGER NOT NULL DEFAULT 0,
  tasks_failed INTEGER NOT NULL DEFAULT 0,
  task_seconds REAL NOT NULL DEFAULT 0,
  messages_handled INTEGER NOT NULL DEFAULT 0,
  stall_count INTEGER NOT NULL DEFAULT 0,
  restarts INTEGER NOT NULL DEFAULT 0,
  failures_in_a_row INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE projects (name TEXT PRIMARY KEY, path TEXT NOT NULL, agents TEXT NOT NULL, created_at REAL NOT NULL);

CREATE TABLE messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  sender TEXT NOT NULL,
  addressed TEXT NOT NULL,
  type TEXT NOT NULL,
  priority TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  data TEXT NOT NULL,
  requires_response INTEGER NOT NULL,
  deadline REAL,
  thread_id TEXT NOT NULL,
  is_peer_dm INTEGER NOT NULL,
  project_id TEXT,
  related_tasks TEXT NOT NULL,
  in_reply_to TEXT,
  reply_note TEXT,
  visited TEXT NOT NULL,
  expires_at REAL,
  traceparent TEXT,
  created_at REAL NOT NULL,
  sent_at REAL,
  digest TEXT NOT NULL,
  origin TEXT NOT NULL,
  outcomes TEXT
);
CREATE INDEX messages_by_thread ON messages (thread_id, seq);
CREATE INDEX messages_by_question ON messages (in_reply_to) WHERE in_reply_to IS NOT NULL;
CREATE INDEX messages_by_age ON messages (created_at);

CREATE TABLE copies (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id TEXT NOT NULL REFERENCES messages (id),
  receiver TEXT NOT NULL,
  sender TEXT NOT NULL,
  state TEXT NOT NULL,
  wakes INTEGER NOT NULL,
  not_urgent INTEGER NOT NULL,
  sort_key REAL NOT NULL,
  not_before REAL NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  token TEXT,
  run_id TEXT,
  lease_ends REAL,
  link_id TEXT,
  deliver_at REAL,
  expires_at REAL,
  delivered_at REAL,
  seen_at REAL,
  handled_at REAL,
  ended_at REAL,
  reason TEXT,
  answer_due REAL,
  answered_at REAL,
  answered_by TEXT,
  gave_up_at REAL,
  UNIQUE (message_id, receiver)
);
CREATE INDEX copies_ready ON copies (receiver, wakes, not_urgent, sort_key, seq) WHERE state = 'delivered';
CREATE INDEX copies_leased ON copies (lease_ends) WHERE state = 'seen';
CREATE INDEX copies_by_token ON copies (token) WHERE token IS NOT NULL;
CREATE INDEX copies_waited_for ON copies (sender, answer_due) WHERE answer_due IS NOT NULL;
CREATE INDEX copies_answer_due ON copies (answer_due) WHERE answer_due IS NOT NULL;
CREATE INDEX copies_expiring ON copies (expires_at) WHERE state = 'delivered' AND expires_at IS NOT NULL;
CREATE INDEX copies_dead ON copies (seq) WHERE state = 'dead';
CREATE INDEX copies_expired ON copies (seq) WHERE state = 'expired';
CREATE INDEX copies_deferred ON copies (deliver_at) WHERE state = 'deferred';
CREATE INDEX copies_by_receiver ON copies (receiver, seq);
CREATE INDEX copies_unread ON copies (receiver, seq) WHERE state = 'delivered';

CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  data TEXT NOT NULL,
  state TEXT NOT NULL,
  queue TEXT NOT NULL,
  agent TEXT,
  capability TEXT,
  priority TEXT NOT NULL,
  not_urgent INTEGER NOT NULL,
  sort_key REAL NOT NULL,
  not_before REAL NOT NULL,
  blockers INTEGER NOT NULL,
  approval TEXT,
  anyway INTEGER NOT NULL,
  parent_id TEXT,
  project_id TEXT,
  dedupe_key TEXT,
  schedule TEXT,
  origin TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at REAL NOT NULL,
  deadline REAL,
  estimated_s REAL NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  holder TEXT,
  token TEXT,
  run_id TEXT,
  lease_ends REAL,
  claimed_at REAL,
  started_at REAL,
  finished_at REAL,
  progress TEXT,
  progress_at REAL,
  waiting_for TEXT,
  split_at REAL,
  visited TEXT NOT NULL,
  result TEXT,
  error TEXT,
  failed_by TEXT NOT NULL DEFAULT '[]',
  traceparent TEXT,
  digest TEXT NOT NULL
);
CREATE INDEX tasks_ready ON tasks (queue, not_urgent, sort_key, seq) WHERE state = 'queued';
CREATE INDEX tasks_leased ON tasks (lease_ends) WHERE state = 'running';
CREATE INDEX tasks_open ON tasks (agent, seq) WHERE state IN ('queued', 'blocked', 'running');
CREATE INDEX tasks_blocked ON tasks (agent, seq) WHERE state = 'blocked';
CREATE INDEX tasks_held ON tasks (holder, seq) WHERE state = 'running';
CREATE UNIQUE INDEX tasks_by_token ON tasks (token) WHERE token IS NOT NULL;
CREATE INDEX tasks_waiting ON tasks (waiting_for) WHERE waiting_for IS NOT NULL;
CREATE INDEX tasks_due ON tasks (deadline) WHERE state IN ('queued', 'blocked') AND deadline IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tasks_broken ON tasks (seq) WHERE state IN ('failed', 'cancelled');
CREATE INDEX tasks_by_end ON tasks (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX tasks_by_project ON tasks (project_id, state, agent) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX tasks_dedupe ON tasks (dedupe_key) WHERE dedupe_key IS NOT NULL AND state IN ('queued', 'blocked', 'running');

CREATE TABLE needs (
  task_id TEXT NOT NULL REFERENCES tasks (id),
  needs_id TEXT NOT NULL REFERENCES tasks (id),
  met_at REAL,
  PRIMARY KEY (task_id, needs_id)
);
CREATE INDEX needs_by_needed ON needs (needs_id);

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  item TEXT NOT NULL,
  kind TEXT NOT NULL,
  agent TEXT NOT NULL,
  node TEXT,
  attempt INTEGER NOT NULL,
  pid INTEGER,
  pgid INTEGER,
  start_ticks INTEGER,
  boot_id TEXT,
  claimed_at REAL NOT NULL,
  started_at REAL,
  ended_at REAL,
  outcome TEXT,
  cost_usd REAL,
  tokens INTEGER,
  exit_code INTEGER
);
CREATE INDEX runs_open ON runs (agent) WHERE ended_at IS NULL;
CREATE INDEX runs_by_item ON runs (item, claimed_at);
CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE schedules (name TEXT PRIMARY KEY, settings TEXT NOT NULL, next_at REAL NOT NULL, last_slot REAL, last_task TEXT, removed_at REAL);
CREATE INDEX schedules_due ON schedules (next_at) WHERE removed_at IS NULL;

CREATE TABLE entries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  source TEXT,
  tokens INTEGER NOT NULL,
  at REAL NOT NULL,
  archived_at REAL
);
CREATE INDEX entries_live ON entries (agent, seq, tokens) WHERE archived_at IS NULL;
CREATE INDEX entries_by_agent ON entries (agent, at);

CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  start_ticks INTEGER NOT NULL,
  boot_id TEXT NOT NULL,
  started_at REAL NOT NULL,
  heartbeat_at REAL NOT NULL,
  version TEXT NOT NULL,
  stopped_at REAL
);

CREATE TABLE leaders (role TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, until REAL NOT NULL, cycle INTEGER NOT NULL DEFAULT 0, cycled_at REAL);

CREATE TABLE answered_requests (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (caller, key)
);
CREATE INDEX answered_requests_by_age ON answered_requests (at);

CREATE TABLE bookmarks (name TEXT PRIMARY KEY, xid INTEGER NOT NULL, seq INTEGER NOT NULL);

CREATE TABLE thread_pauses (thread_id TEXT PRIMARY KEY, at REAL NOT NULL, reason TEXT NOT NULL);

/*sqlite*/
CREATE VIRTUAL TABLE message_words USING fts5 (subject, body, content = '', contentless_delete = 1);
/*end*/


-- Links between agents, what is left of their limits, mail that waits for credit, and how often two agents took turns in a thread.
-- Everything is new or may be left out, so that the version before goes on beside it.

CREATE TABLE links (
  id TEXT PRIMARY KEY,
  one TEXT NOT NULL,
  other TEXT NOT NULL,
  messages INTEGER NOT NULL,
  hours INTEGER NOT NULL,
  debounce_s REAL NOT NULL,
  limited INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  feature TEXT,
  one_endpoint TEXT,
  other_endpoint TEXT,
  implied INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at REAL NOT NULL,
  created_by TEXT NOT NULL,
  removed_at REAL,
  removed_why TEXT
);
CREATE INDEX links_of_one ON links (one, id);
CREATE INDEX links_of_other ON links (other, id);

CREATE TABLE peer_states (
  link_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  sender TEXT NOT NULL,
  credits INTEGER NOT NULL,
  reset_at REAL,
  last_at REAL,
  last_run TEXT,
  recent TEXT NOT NULL,
  PRIMARY KEY (link_id, channel, sender)
) /*sqlite*/WITHOUT ROWID/*end*/;

CREATE INDEX copies_deferred_of ON copies (sender, receiver, seq) WHERE state = 'deferred';
CREATE INDEX copies_deferred_expiring ON copies (expires_at) WHERE state = 'deferred' AND expires_at IS NOT NULL;
CREATE INDEX copies_at_work ON copies (receiver, seq) WHERE state = 'seen';

ALTER TABLE messages ADD COLUMN turns INTEGER;

-- Tiers of a context: summaries that stand for what is archived, the archive packed and findable, checkpoints, sessions of brains.
-- Everything is new or may be left out, so that the version before goes on beside it.

ALTER TABLE entries ADD COLUMN form TEXT NOT NULL DEFAULT 'raw';
ALTER TABLE entries ADD COLUMN packed BLOB;
ALTER TABLE entries ADD COLUMN shown_in TEXT;
ALTER TABLE entries ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX entries_shown_in ON entries (shown_in, seq) WHERE shown_in IS NOT NULL;
CREATE INDEX entries_by_source ON entries (source) WHERE source IS NOT NULL;
CREATE INDEX entries_decisions ON entries (agent, at) WHERE kind = 'decision' AND form = 'raw';
CREATE INDEX entries_to_index ON entries (seq) WHERE archived_at IS NOT NULL AND indexed = 0;

CREATE TABLE contexts (
  agent TEXT PRIMARY KEY,
  version INTEGER NOT NULL DEFAULT 0,
  compressed_to INTEGER NOT NULL DEFAULT 0,
  compressed_at REAL,
  tidied_at REAL NOT NULL DEFAULT 0,
  cold_entries INTEGER NOT NULL DEFAULT 0,
  cold_since REAL,
  emergencies INTEGER NOT NULL DEFAULT 0,
  told_at REAL,
  too_large_at REAL,
  too_large TEXT,
  session INTEGER NOT NULL DEFAULT 1,
  session_fresh INTEGER NOT NULL DEFAULT 1,
  session_tokens INTEGER,
  session_limit INTEGER
);

CREATE TABLE checkpoints (
  agent TEXT PRIMARY KEY,
  at REAL NOT NULL,
  run_id TEXT,
  item TEXT NOT NULL,
  outcome TEXT NOT NULL,
  summary TEXT NOT NULL,
  version INTEGER NOT NULL,
  last_entry INTEGER NOT NULL,
  size INTEGER NOT NULL
);

/*sqlite*/
CREATE VIRTUAL TABLE entry_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = "unicode61 tokenchars '@-'");
/*end*/


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
CREATE INDEX agents_by_role ON agents (lower(role) ) WHERE removed_at IS NULL;

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

-- Votes of the fleet (Q4): what is voted on, who may vote, the ballots of each round, the arguments of each round. Everything is new, so
-- that the version before goes on beside it. Ballots of earlier rounds are kept: they tell who changed.

CREATE TABLE votes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  topic TEXT NOT NULL,
  options TEXT NOT NULL,
  choices TEXT NOT NULL,
  opener TEXT NOT NULL,
  quorum INTEGER NOT NULL,
  tie TEXT NOT NULL,
  debate INTEGER NOT NULL,
  round INTEGER NOT NULL,
  last_round INTEGER NOT NULL,
  counted_from INTEGER NOT NULL,
  state TEXT NOT NULL,
  decider TEXT,
  opened_at REAL NOT NULL,
  length_s REAL NOT NULL,
  deadline REAL NOT NULL,
  due_at REAL NOT NULL,
  closed_at REAL,
  closed_by TEXT,
  result TEXT,
  digest TEXT NOT NULL
);
CREATE INDEX votes_due ON votes (due_at) WHERE state <> 'closed';
CREATE INDEX votes_open_of ON votes (opener) WHERE state <> 'closed';

CREATE TABLE voters (
  vote_id TEXT NOT NULL,
  voter TEXT NOT NULL,
  place INTEGER NOT NULL,
  expertise REAL NOT NULL,
  spoke_in INTEGER NOT NULL,
  again_in INTEGER NOT NULL,
  left_at REAL,
  PRIMARY KEY (vote_id, voter)
) /*sqlite*/WITHOUT ROWID/*end*/;

CREATE TABLE ballots (
  vote_id TEXT NOT NULL,
  round INTEGER NOT NULL,
  voter TEXT NOT NULL,
  selection TEXT,
  confidence REAL NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (vote_id, round, voter)
) /*sqlite*/WITHOUT ROWID/*end*/;

CREATE TABLE vote_arguments (
  vote_id TEXT NOT NULL,
  round INTEGER NOT NULL,
  voter TEXT NOT NULL,
  argument TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (vote_id, round, voter)
) /*sqlite*/WITHOUT ROWID/*end*/;

-- Figures over time: what happened in each stretch of time, by agent; the whole fleet's has an empty agent.
-- Everything is new, so that the version before goes on beside it. A stretch is `span_s` long and begins at `at`, a multiple of it.
-- Figures are added up from the events by the leader and can be lost without harm to anything else.

CREATE TABLE figures (
  agent TEXT NOT NULL,
  span_s INTEGER NOT NULL,
  at REAL NOT NULL,
  tally TEXT NOT NULL,
  PRIMARY KEY (agent, span_s, at)
) /*sqlite*/WITHOUT ROWID/*end*/;
CREATE INDEX figures_by_age ON figures (span_s, at);

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

-- Webhooks: how each one of the settings fares. Its place in the story is a bookmark like any other's. The table is new, so that the
-- version before goes on beside it. A row a webhook.

CREATE TABLE webhooks (
  name TEXT PRIMARY KEY,
  tries INTEGER NOT NULL,
  retry_at REAL,
  down_since REAL,
  said TEXT NOT NULL,
  sent INTEGER NOT NULL,
  sent_at REAL,
  given_up INTEGER NOT NULL
);

-- Open tasks by the agent that made them, so that each may have so many at most. The version before goes on beside it.

CREATE INDEX tasks_made ON tasks (created_by) WHERE origin = 'agent' AND state IN ('queued', 'blocked', 'running');

-- When a direction's window began, so that a shorter one ends at its start plus the new length, whatever it was made before. A window
-- that runs now, or that the version before starts beside this one, has none: its start is taken for its end less its length.

ALTER TABLE peer_states ADD COLUMN began_at REAL;

INSERT INTO migrations (name, at) VALUES ('0001_foundation', 0), ('0002_links', 0), ('0003_contexts', 0), ('0004_planning', 0), ('0005_healing', 0), ('0006_buddies', 0), ('0007_cycle', 0), ('0008_handoffs', 0), ('0009_team_runs', 0), ('0010_votes', 0), ('0011_figures', 0), ('0012_console', 0), ('0013_exchanges', 0), ('0014_own_sessions', 0), ('0015_webhooks', 0), ('0016_made_tasks', 0), ('0017_window_starts', 0);
