-- One vote.
SELECT seq, id, topic, options, choices, opener, quorum, tie, debate, round, last_round, counted_from, state, decider, opened_at,
       length_s, deadline, due_at, closed_at, closed_by, result, digest
  FROM votes WHERE id = :id
