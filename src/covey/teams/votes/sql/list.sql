-- Votes, newest first, of one state or all.
SELECT seq, id, topic, options, choices, opener, quorum, tie, debate, round, last_round, counted_from, state, decider, opened_at,
       length_s, deadline, due_at, closed_at, closed_by, result, digest
  FROM votes WHERE seq < :before AND (:state = '' OR state = :state) ORDER BY seq DESC LIMIT :limit
