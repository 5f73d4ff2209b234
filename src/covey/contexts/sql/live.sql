-- An agent's live context, oldest first.
SELECT id, kind, text, source, tokens, at, form FROM entries /*sqlite*/INDEXED BY entries_live/*end*/ WHERE agent = :agent AND archived_at IS NULL ORDER BY at, seq
