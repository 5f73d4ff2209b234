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
