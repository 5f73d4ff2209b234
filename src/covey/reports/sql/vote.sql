-- One vote as it stands; its ballots are no report's.
SELECT id, topic, opener, quorum, tie, round, last_round, counted_from, state, decider, opened_at, due_at, closed_at, closed_by, result
  FROM votes WHERE id = :id
