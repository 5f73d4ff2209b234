-- The size of an agent's live context.
SELECT coalesce(sum(tokens), 0) AS tokens FROM entries /*sqlite*/INDEXED BY entries_live/*end*/ WHERE agent = :agent AND archived_at IS NULL
