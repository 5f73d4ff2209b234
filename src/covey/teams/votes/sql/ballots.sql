-- All ballots of a vote, round by round.
SELECT round, voter, selection, confidence, at FROM ballots WHERE vote_id = :vote_id ORDER BY round, voter
