-- When the oldest of an agent's live entries was made that is no line about the archive.
SELECT min(at) AS at FROM entries /*sqlite*/INDEXED BY entries_live/*end*/ WHERE agent = :agent AND archived_at IS NULL AND form <> 'cold'
