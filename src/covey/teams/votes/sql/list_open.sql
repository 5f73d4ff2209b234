-- Votes that are not closed, newest first: they are few, so they are found by their own index and then sorted.
SELECT seq, id, topic, options, choices, opener, quorum, tie, debate, round, last_round, counted_from, state, decider, opened_at,
       length_s, deadline, due_at, closed_at, closed_by, result, digest
  FROM votes WHERE state <> 'closed' AND +seq < :before AND (:state = '' OR state = :state) ORDER BY +seq DESC LIMIT :limit
