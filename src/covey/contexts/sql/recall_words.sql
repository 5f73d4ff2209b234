-- An agent's archived entries that have all these words, the newest first.
SELECT e.seq, e.id, e.kind, e.text, e.source, e.tokens, e.at, e.form, e.packed, e.archived_at, e.shown_in
  FROM entries e
 WHERE e.agent = :agent AND e.at >= :since AND e.at <= :until
   AND e.seq IN (SELECT rowid FROM entry_words WHERE rowid < :before AND /*sqlite*/entry_words MATCH :match/*end*/ /*postgres: words @> :words::text[]*/
                  ORDER BY rowid DESC LIMIT :most)
 ORDER BY e.seq DESC LIMIT :limit
