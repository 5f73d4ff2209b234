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
