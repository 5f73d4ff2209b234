-- Tiers of a context: summaries that stand for what is archived, the archive packed and findable, checkpoints, sessions of brains.
-- Everything is new or may be left out, so that the version before goes on beside it.

ALTER TABLE entries ADD COLUMN form TEXT NOT NULL DEFAULT 'raw';
ALTER TABLE entries ADD COLUMN packed BLOB;
ALTER TABLE entries ADD COLUMN shown_in TEXT;
ALTER TABLE entries ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX entries_shown_in ON entries (shown_in, seq) WHERE shown_in IS NOT NULL;
CREATE INDEX entries_by_source ON entries (source) WHERE source IS NOT NULL;
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
  session_fresh INTEGER NOT NULL DEFAULT 0,
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
/*postgres:CREATE TABLE entry_words (rowid BIGINT PRIMARY KEY, words TEXT[] NOT NULL);
CREATE INDEX entry_words_in ON entry_words USING gin (words);*/
