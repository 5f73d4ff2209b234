-- An agent's live context as its brain is told it, oldest first.
SELECT kind, text, at FROM entries /*sqlite*/INDEXED BY entries_live/*end*/ WHERE agent = :agent AND archived_at IS NULL ORDER BY at, seq
