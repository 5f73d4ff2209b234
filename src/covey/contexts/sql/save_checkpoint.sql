-- Where an agent stood after the last thing it handled.
INSERT INTO checkpoints (agent, at, run_id, item, outcome, summary, version, last_entry, size)
VALUES (:agent, :now, :run_id, :item, :outcome, :summary, coalesce((SELECT version FROM contexts WHERE agent = :agent), 0),
        coalesce((SELECT max(seq) FROM entries /*sqlite*/INDEXED BY entries_live/*end*/ WHERE agent = :agent AND archived_at IS NULL), 0),
        coalesce((SELECT sum(tokens) FROM entries /*sqlite*/INDEXED BY entries_live/*end*/ WHERE agent = :agent AND archived_at IS NULL), 0))
ON CONFLICT (agent) DO UPDATE SET at = excluded.at, run_id = excluded.run_id, item = excluded.item, outcome = excluded.outcome,
       summary = excluded.summary, version = excluded.version, last_entry = excluded.last_entry, size = excluded.size
