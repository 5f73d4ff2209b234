-- An agent's archived entries of a time, the newest first.
SELECT e.seq, e.id, e.kind, e.text, e.source, e.tokens, e.at, e.form, e.packed, e.archived_at, e.shown_in
  FROM entries e
 WHERE e.agent = :agent AND e.at >= :since AND e.at <= :until AND e.form = 'raw' AND e.archived_at IS NOT NULL
 ORDER BY e.at DESC, e.seq DESC LIMIT :limit
