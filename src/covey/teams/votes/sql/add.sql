-- A new vote, in its first round.
INSERT INTO votes (id, topic, options, choices, opener, quorum, tie, debate, round, last_round, counted_from, state, opened_at, length_s,
                   deadline, due_at, digest)
VALUES (:id, :topic, :options, :options, :opener, :quorum, :tie, :debate, 1, :last_round, 1, 'open', :now, :length_s, :deadline, :due_at,
        :digest)
