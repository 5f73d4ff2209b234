-- All arguments of a vote, round by round.
SELECT round, voter, argument, at FROM vote_arguments WHERE vote_id = :vote_id ORDER BY round, voter
