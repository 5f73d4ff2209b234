-- What a look at an idle agent came to.
INSERT INTO plannings (agent, at, next_at, why, made) VALUES (:agent, :now, :next_at, :why, :made)
  ON CONFLICT (agent) DO UPDATE SET at = excluded.at, next_at = excluded.next_at, why = excluded.why, made = excluded.made
